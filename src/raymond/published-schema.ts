import { readFileSync } from 'node:fs';

/** A schema that the package carries, to be laid beside a file that refers to it. */
export const publishedSchema = (name: 'frontmatter' | 'scenario' | 'config'): string =>
  readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8');
