import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { Node } from './node.ts';

export const PROJECT = join(import.meta.dirname, '..', '..');

/** The text of a schema as it is in the package. */
export const publishedText = (name: string): string =>
  readFileSync(join(PROJECT, 'schemas', `${name}.schema.json`), 'utf8');

export const published = (name: string): Node => JSON.parse(publishedText(name));

/** Strict: a keyword that is unknown, or binds nothing, is an error. */
const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false });
ajv.addFormat('regex', isPattern);

/** Validates a file as an editor would. */
export const validate = {
  frontmatter: ajv.compile(published('frontmatter')),
  workflow: ajv.compile(published('workflow')),
  scenario: ajv.compile(published('scenario')),
  config: ajv.compile(published('config')),
};

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'm') instanceof RegExp;
  } catch {
    return false;
  }
}
