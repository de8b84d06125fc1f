import { flagOf } from '../core/options/options.ts';
import type { Setting } from '../core/options/view-options.ts';
import { VARIABLE_NAME_SCHEMA } from '../language/variable-names.ts';
import { CONFIG_OPTIONS } from './config.ts';
import { formatTomlValue } from './toml.ts';

/** The schema is next to the config file, so that the reference to it holds wherever Raymond is installed. */
export const CONFIG_SCHEMA_FILE = 'config.schema.json';

/** A config file with every option explained and none set: an option is a `#` with no blank after it. */
export function configTemplate(): string {
  const options = CONFIG_OPTIONS.map((option) => {
    const lines = [
      `# ${describeOption(option)}`,
      ...(option.trust ? [`# ${TRUST_NOTE}`] : []),
      ...(option.whenOmitted ? [`# ${describeDefault(option)}`] : []),
    ];
    return `${lines.join('\n')}\n#${option.key} = ${formatTomlValue(sampleOf(option))}\n`;
  });
  return `${HEADER}\n[raymond]\n\n${options.join('\n')}\n${VARS_SECTION}`;
}

const HEADER = `#:schema ./${CONFIG_SCHEMA_FILE}
# Options for every run that is started in this folder or below it.
#
# To set an option, remove the # before it. The value shown is its default, or an example if "Default:" says otherwise.
# The command line has precedence over this file, and this file over your own, ~/.config/raymond/config.toml.
# \`raymond config\` shows what is in force.
# A run remembers its options: changes here count for runs that are started later.
`;

const VARS_SECTION = `[vars]

# Variables for every prompt and script, always texts: {{issue}} in prompts, $issue in scripts.
#issue = "195"
`;

/** The config file as JSON Schema, for editors: exactly what \`parseConfig\` takes. */
export function configSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Raymond: config.toml',
    type: 'object',
    properties: {
      raymond: {
        description: 'Options for every run that is started in this folder or below it.',
        type: 'object',
        properties: Object.fromEntries(CONFIG_OPTIONS.map((option) => [option.key, optionSchema(option)])),
        additionalProperties: false,
      },
      vars: {
        description: 'Variables for every prompt and script: {{name}} in prompts, $name in scripts.',
        type: 'object',
        propertyNames: VARIABLE_NAME_SCHEMA,
        additionalProperties: { type: 'string' },
      },
    },
    additionalProperties: false,
  };
}

function optionSchema(option: Setting): object {
  const { type, whenOmitted, trust } = option;
  const description = `${describeOption(option)}${trust === undefined ? '' : ` ${TRUST_NOTE}`}`;
  return whenOmitted === undefined
    ? { description, ...type.jsonSchema, default: sampleOf(option) }
    : {
        description: `${description} ${describeDefault(option)}`,
        ...type.jsonSchema,
        examples: [sampleOf(option)],
      };
}

const TRUST_NOTE = 'In a project, this may need your trust: `raymond trust`.';

const sampleOf = ({ type, default: usual, example }: Setting) => example ?? type.format(usual);

const describeDefault = ({ whenOmitted = '' }: Setting): string => `Default: ${whenOmitted}.`;

/** The help of an option as a sentence. */
function describeOption(option: Setting): string {
  const { help, negation } = option;
  const off =
    option.config === 'on' ? `; only --no-${flagOf(option).slice(2)} switches it off` : `; false: ${negation}`;
  const sentence = negation === undefined ? help : `${help}${off}`;
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}
