import type { WrittenSchema } from '../graph/workflow-source.ts';
import type { TextPosition } from '../language/text/text-position.ts';
import type { FindingReport } from '../yaml/finding-report.ts';
import { readYamlFields, type YamlValue } from '../yaml/value.ts';

/** Reads a schema as plain data, with the position of everything in it. */
export function readWrittenSchema(value: YamlValue, report: FindingReport): WrittenSchema {
  const positions: Record<string, TextPosition> = {};
  const read = (each: YamlValue, pointer: string): unknown => {
    positions[pointer] = each.at;
    switch (each.kind) {
      case 'nothing':
        return null;
      case 'text':
        return each.text;
      case 'number':
        return each.number;
      case 'boolean':
        return each.boolean;
      case 'list':
        return each.items.map((item, index) => read(item, `${pointer}/${index}`));
      case 'mapping':
        return Object.fromEntries(
          [...readYamlFields(each, report).values()].map((field) => [
            field.name,
            read(field.value, `${pointer}/${field.name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
          ]),
        );
    }
  };
  return { value: read(value, ''), positions };
}
