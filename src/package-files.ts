import { fileURLToPath } from 'node:url';

/** The path of a file that the package carries besides its code. All code stands one folder below the package. */
export const resolvePackageFile = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));
