import { FRONTMATTER_KEYS } from './frontmatter-keys.ts';
import { allowNull } from './value-schemas.ts';

/** The frontmatter of a prompt as JSON Schema, for editors: what the loader takes without a word. */
export function frontmatterSchema(): object {
  const properties = Object.entries(FRONTMATTER_KEYS).map(([name, { purpose, schema }]) => {
    return [name, { description: purpose, ...allowNull(schema) }] as const;
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Raymond: the frontmatter of a prompt',
    type: ['object', 'null'],
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}
