import { VARIABLE_NAME_SCHEMA } from '../core/variables.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** The config file as JSON Schema, for editors: exactly what `parseConfig` takes. */
export function configSchema(): object {
  const options = Object.entries(SETTINGS).map(([name, setting]) => [name, settingSchema(setting)] as const);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Raymond: config.toml',
    type: 'object',
    properties: {
      raymond: {
        description: 'The options of every run that is started in this folder or below it.',
        type: 'object',
        properties: Object.fromEntries(options),
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

function settingSchema({ purpose, jsonSchema, sample, whenOmitted }: Setting): object {
  if (whenOmitted === null) return { description: purpose, ...jsonSchema, default: sample };
  return { description: `${purpose} Without it: ${whenOmitted}.`, ...jsonSchema, examples: [sample] };
}
