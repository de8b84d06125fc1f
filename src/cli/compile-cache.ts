import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { crc32 } from 'node:zlib';

/**
 * Where compiled code is kept: in a folder of the user, because whoever can write to it can have anything done.
 * `NODE_COMPILE_CACHE` names another one. Undefined if nothing is to be kept.
 */
export function findCompileCache(env: NodeJS.ProcessEnv): string | undefined {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME, HOME, USERPROFILE } = env;
  if (NODE_DISABLE_COMPILE_CACHE) return undefined;
  const caches = isAbsolute(XDG_CACHE_HOME ?? '') ? (XDG_CACHE_HOME ?? '') : join(HOME || USERPROFILE || '', '.cache');
  const folder = NODE_COMPILE_CACHE || join(caches, 'raymond');
  return isAbsolute(folder) ? folder : undefined;
}

/**
 * Keeps what V8 makes of the files beside this one that are loaded from now on, and uses what was kept: to compile them takes
 * longer than most commands run. Node.js can do that by itself only from version 22 on, and not once a flag of V8 has changed.
 */
export function useCompileCache(folder: string): void {
  const require = createRequire(import.meta.url);
  const here = dirname(fileURLToPath(import.meta.url));
  const loadOther = require.extensions['.js'];
  const compiled: { readonly kept: string; readonly source: string; readonly script: vm.Script }[] = [];
  require.extensions['.js'] = (module, path) => {
    if (dirname(path) !== here) return loadOther?.(module, path);
    const source = `${WRAPPER[0]}${readFileSync(path, 'utf8')}${WRAPPER[1]}`;
    const kept = join(folder, `${basename(path, '.js')}-${process.version}-${process.arch}`);
    const cachedData = readKept(kept, source);
    const script = new vm.Script(source, {
      filename: path,
      lineOffset: -1,
      ...(cachedData !== undefined && { cachedData }),
    });
    if (cachedData === undefined || script.cachedDataRejected) compiled.push({ kept, source, script });
    script.runInThisContext()(module.exports, createRequire(path), module, path, here);
  };
  // Only now, because the functions that were called are kept, too.
  process.on('exit', () => {
    try {
      if (compiled.length > 0) mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const { kept, source, script } of compiled) keep(kept, source, script.createCachedData());
    } catch {
      // It is only for speed.
    }
  });
}

/** As Node.js itself wraps a module; in a line of its own, so that the lines of the file keep their numbers. */
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) {\n', '\n})'] as const;

/** The checksums of the source and of the data that were made of it: V8 only compares the length of the source. */
const HEADER_BYTES = 8;

/** Reads compiled code that this user has kept; undefined if it is not whole, or was made of another source. */
function readKept(kept: string, source: string): Buffer | undefined {
  try {
    const file = openSync(kept, 'r');
    try {
      if (process.getuid !== undefined && fstatSync(file).uid !== process.getuid()) return undefined;
      const bytes = readFileSync(file);
      const data = bytes.subarray(HEADER_BYTES);
      return bytes.readUInt32LE(0) === crc32(source) && bytes.readUInt32LE(4) === crc32(data) ? data : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Replaces the file at once: another process may read it just now. */
function keep(kept: string, source: string, data: Buffer): void {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(crc32(source), 0);
  header.writeUInt32LE(crc32(data), 4);
  const temporary = `${kept}.${process.pid}`;
  try {
    writeFileSync(temporary, Buffer.concat([header, data]), { mode: 0o600 });
    renameSync(temporary, kept);
  } finally {
    rmSync(temporary, { force: true });
  }
}
