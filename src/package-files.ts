import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a file of the package that is no code. All code is one folder below the package's root. */
export const resolvePackageFile = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** Reads a schema of the package, to be written beside a file that refers to it. */
export const readPublishedSchema = (name: 'frontmatter' | 'workflow' | 'scenario' | 'config'): string =>
  readFileSync(resolvePackageFile(`schemas/${name}.schema.json`), 'utf8');

/** Reads the version of the package. */
export const readPackageVersion = (): string =>
  String((JSON.parse(readFileSync(resolvePackageFile('package.json'), 'utf8')) as { version: unknown }).version);
