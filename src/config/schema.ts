import { VARIABLE_NAMES } from '../core/variable-shape.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** The config file as JSON Schema, for editors: exactly what `parseConfig` takes. */
export function configSchema(): object {
  const options = Object.entries(SETTINGS).map(([name, setting]) => [name, optionShape(setting)] as const);
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
        propertyNames: VARIABLE_NAMES,
        additionalProperties: { type: 'string' },
      },
    },
    additionalProperties: false,
  };
}

function optionShape({ purpose, shape, sample, otherwise }: Setting): object {
  if (otherwise === null) return { description: purpose, ...shape, default: sample };
  return { description: `${purpose} Without it: ${otherwise}.`, ...shape, examples: [sample] };
}
