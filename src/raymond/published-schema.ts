import { readFileSync } from 'node:fs';
import { shipped } from '../shipped.ts';

/** A schema that the package carries, to be laid beside a file that refers to it. */
export const publishedSchema = (name: 'frontmatter' | 'scenario' | 'config'): string =>
  readFileSync(shipped(`schemas/${name}.schema.json`), 'utf8');
