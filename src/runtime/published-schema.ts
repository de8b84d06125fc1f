import { readFileSync } from 'node:fs';
import { resolvePackageFile } from '../package-files.ts';

/** A schema that the package carries, to be laid beside a file that refers to it. */
export const readPublishedSchema = (name: 'frontmatter' | 'scenario' | 'config'): string =>
  readFileSync(resolvePackageFile(`schemas/${name}.schema.json`), 'utf8');
