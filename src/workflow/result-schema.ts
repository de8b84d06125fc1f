import type { StateSource, WrittenSchema } from '../graph/workflow-source.ts';
import { type FileFinding, isJsonSchema } from '../language/state.ts';
import type { TextPosition } from '../language/text/text.ts';
import { findSchemaProblems } from '../schema/check-result.ts';
import { type FindingReport, isErrorFinding, newFindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { readYamlFields, type YamlValue } from '../yaml/value.ts';
import { InvalidWorkflow } from './invalid-workflow.ts';
import { decodeText, type WorkflowFiles } from './workflow-files.ts';

/** Completes a state that has a `result_schema`: reads it if it stands in a file, and reports what is wrong with it. */
export async function completeResultSchema(source: StateSource, files: WorkflowFiles): Promise<StateSource> {
  const { writtenSchema, state } = source;
  if (writtenSchema === undefined) return source;
  const report = newFindingReport(source.origin?.file ?? source.file);
  const { value } = writtenSchema;
  if (typeof value !== 'string') {
    const findings = await findSchemaMistakes(writtenSchema, source.origin?.file ?? source.file, 'the `result_schema`');
    return { ...source, findings: [...source.findings, ...findings] };
  }
  const at = writtenSchema.positions[''] ?? { line: 1, column: 1 };
  const loaded = await loadSchemaFile(value, files);
  if (typeof loaded === 'string') {
    report.error(at, `\`result_schema\`: ${loaded}`);
    return { ...source, findings: [...source.findings, ...report.findings] };
  }
  const mistakes = loaded.findings.some(isErrorFinding)
    ? loaded.findings
    : await findSchemaMistakes(loaded, value, 'the schema');
  const schema = loaded.value;
  return {
    ...source,
    findings: [...source.findings, ...mistakes],
    state: isJsonSchema(schema) ? { ...state, resultSchema: schema } : state,
  };
}

type LoadedSchema = WrittenSchema & { readonly findings: readonly FileFinding[] };

/** Reads a schema from a file of the workflow, or explains why that is not possible. */
async function loadSchemaFile(name: string, files: WorkflowFiles): Promise<LoadedSchema | string> {
  const quoted = quoteInMessage(name);
  if (files.oneFile) return `there is no file ${quoted} in a workflow of one file: write the schema itself here`;
  if (!(await files.list()).includes(name)) return `there is no file ${quoted} in the workflow`;
  const problem = files.problemOf(name);
  if (problem !== undefined) return `${quoted}: ${problem}`;
  try {
    const decoded = decodeText((await files.read(name)).bytes, 'prompt');
    if (decoded.kind === 'not-text') return `${quoted}: ${decoded.message}`;
    const report = newFindingReport(name);
    const value = readYaml(decoded.text.replaceAll('\r\n', '\n'), report);
    if (value === undefined) return { value: null, positions: {}, findings: report.findings };
    return { ...readWrittenSchema(value, report), findings: report.findings };
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    return `${quoted}: ${error.findings[0]?.message ?? error.message}`;
  }
}

/** The mistakes in a schema, each at its position in the file. */
async function findSchemaMistakes(
  { value, positions }: WrittenSchema,
  file: string,
  what: string,
): Promise<readonly FileFinding[]> {
  const report = newFindingReport(file);
  const start = positions[''] ?? { line: 1, column: 1 };
  if (!isJsonSchema(value)) report.error(start, `${what} must be a JSON Schema: a mapping such as \`type: object\``);
  else
    for (const { pointer, message } of await findSchemaProblems(value)) {
      const place = pointer === '' ? '' : ` at \`${pointer}\``;
      report.error(positions[pointer] ?? start, `${what} is not a JSON Schema${place}: ${message}`);
    }
  return report.findings;
}

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
