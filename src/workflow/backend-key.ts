import { type FindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { readYamlFields, readYamlScalarText, type YamlField, type YamlValue } from '../yaml/value.ts';
import { reportWrongType, type ValueType } from './value-types.ts';

/** The backends that a workflow may name: nothing, or this one in any letter case. */
const KNOWN_BACKEND = '^\\s*([Cc][Ll][Aa][Uu][Dd][Ee])?\\s*$';

/** The name of a backend, or a mapping with its `name`. A turn on another backend than the author chose would cost money, so an unknown one is an error. */
export const BACKEND_VALUE: ValueType<string> = {
  schema: {
    type: ['string', 'object'],
    pattern: KNOWN_BACKEND,
    properties: { name: { type: ['string', 'null'], pattern: KNOWN_BACKEND } },
    required: ['name'],
    additionalProperties: false,
  },
  read: (field, report) => {
    const value = findName(field, report);
    const name = value.kind === 'nothing' ? '' : readYamlScalarText(value);
    if (name === undefined) return reportWrongType(field, value, report, 'the name of a backend');
    if (new RegExp(KNOWN_BACKEND).test(name)) return undefined;
    const message = `Raymond has no backend ${quoteInMessage(name)}, only \`claude\`: remove the key to run on Claude Code`;
    report.error(value.at, `\`${field.name}\`: ${message}`);
    return undefined;
  },
};

/** The value that names the backend; the whole value if there is no such name. */
function findName({ value }: YamlField, report: FindingReport): YamlValue {
  if (value.kind !== 'mapping') return value;
  const fields = readYamlFields(value, report);
  for (const { name, at } of fields.values())
    if (name !== 'name') report.warning(at, `the key ${quoteInMessage(name)} is unknown and has no effect`);
  return fields.get('name')?.value ?? value;
}
