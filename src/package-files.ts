import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a file that the package carries besides its code. All code stands one folder below the package. */
export const resolvePackageFile = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** A schema that the package carries, to be laid beside a file that refers to it. */
export const readPublishedSchema = (name: 'frontmatter' | 'scenario' | 'config'): string =>
  readFileSync(resolvePackageFile(`schemas/${name}.schema.json`), 'utf8');
