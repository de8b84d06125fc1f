import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Compiles the room into a folder, for tests that need it in a process of its own: Node 20 reads no TypeScript. */
export function compileRoom(folder: string): string {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const files = ['start', 'end', 'ready-wrapper'].map((name) => join(ROOT, `src/process/${name}.ts`));
  const how = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--rewriteRelativeImportExtensions'];
  const where = ['--ignoreConfig', '--noCheck', '--rootDir', join(ROOT, 'src'), '--outDir', folder];
  execFileSync(process.execPath, [tsc, ...how, ...where, ...files], { cwd: ROOT });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return join(folder, 'process');
}
