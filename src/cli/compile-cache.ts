import {
  closeSync,
  existsSync,
  fstatSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { crc32 } from 'node:zlib';

/**
 * Where compiled code is kept: in a folder of the user, because anyone who can write to it can run any code.
 * `NODE_COMPILE_CACHE` names another one. Undefined if nothing is to be kept.
 */
export function findCompileCache(env: NodeJS.ProcessEnv): string | undefined {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME, HOME, USERPROFILE } = env;
  if (NODE_DISABLE_COMPILE_CACHE) return undefined;
  const caches = isAbsolute(XDG_CACHE_HOME ?? '') ? (XDG_CACHE_HOME ?? '') : join(HOME || USERPROFILE || '', '.cache');
  const folder = join(NODE_COMPILE_CACHE || caches, 'raymond');
  return isAbsolute(folder) ? folder : undefined;
}

/**
 * Keeps what V8 makes of the files beside this one that are loaded from now on, and uses what was kept: to compile them takes
 * longer than most commands run. Node.js can do that by itself only from version 22 on, and not once a flag of V8 has changed.
 */
export function useCompileCache(folder: string): void {
  if (!isOurs(folder)) return;
  const require = createRequire(import.meta.url);
  const here = dirname(fileURLToPath(import.meta.url));
  const loadOther = require.extensions['.js'];
  const compiled: { readonly kept: string; readonly source: Buffer; readonly script: vm.Script }[] = [];
  require.extensions['.js'] = (module, path) => {
    if (dirname(path) !== here) return loadOther?.(module, path);
    const source = Buffer.concat([WRAPPER_START, readFileSync(path), WRAPPER_END]);
    const kept = join(folder, `${basename(path, '.js')}-${process.version}-${process.arch}`);
    const cachedData = readKept(kept, source);
    // The bundles have nothing but ASCII in them, and other encodings take longer.
    const script = new vm.Script(source.toString('latin1'), {
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
      if (compiled.length === 0) return;
      makeFolder(folder);
      if (!isOurs(folder)) return;
      for (const { kept, source, script } of compiled) keep(kept, source, script.createCachedData());
      removeUnused(folder);
    } catch {
      // It is only for speed.
    }
  });
}

/** As Node.js itself wraps a module; in a line of its own, so that the lines of the file keep their numbers. */
const WRAPPER_START = Buffer.from('(function (exports, require, module, __filename, __dirname) {\n');
const WRAPPER_END = Buffer.from('\n})');

/** The checksums of the source and of the data that were made of it: V8 only compares the length of the source. */
const HEADER_BYTES = 8;

/** True if only this user can put files there: it is their own folder, or there is none yet. */
function isOurs(folder: string): boolean {
  if (process.getuid === undefined) return true;
  try {
    const found = statSync(folder, { throwIfNoEntry: false });
    return found === undefined || (found.uid === process.getuid() && (found.mode & OTHERS_WRITE) === 0);
  } catch {
    return false;
  }
}

const OTHERS_WRITE = 0o022;

/** Makes the folder and the one that it is in, but no home that does not exist; where that cannot be, Node.js might try forever. */
function makeFolder(folder: string): void {
  for (const each of [dirname(folder), folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
}

/** Reads compiled code that this user has kept; undefined if it is not whole, or was made of another source. */
function readKept(kept: string, source: Buffer): Buffer | undefined {
  try {
    const file = openSync(kept, 'r');
    try {
      const { uid, mtimeMs } = fstatSync(file);
      if (process.getuid !== undefined && uid !== process.getuid()) return undefined;
      const bytes = readFileSync(file);
      const data = bytes.subarray(HEADER_BYTES);
      if (bytes.readUInt32LE(0) !== crc32(source) || bytes.readUInt32LE(4) !== crc32(data)) return undefined;
      if (Date.now() - mtimeMs > DAY_MS) recordUse(file);
      return data;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** The time of a file is that of its last use, give or take a day. */
function recordUse(file: number): void {
  try {
    const now = new Date();
    futimesSync(file, now, now);
  } catch {
    // On a disk that can only be read, nothing is ever removed.
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_AGE_MS = 30 * DAY_MS;
/** As many as three versions of Raymond have, if all their commands are used. */
const MAX_FILES = 250;
/** With the number of the process that is writing it, or was ended at that. */
const KEPT_NAME = /-v\d+\.\d+\.\d+[^/]*-[a-z\d]+(?:\.\d+)?$/;

/** Removes what was not used for a month, and of all the rest what was not used for longest: other versions have other names. */
function removeUnused(folder: string): void {
  const files = readdirSync(folder)
    .filter((name) => KEPT_NAME.test(name))
    .map((name) => ({ path: join(folder, name), usedMs: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.usedMs - a.usedMs);
  const unused = files.filter(({ usedMs }, at) => at >= MAX_FILES || Date.now() - usedMs > MAX_AGE_MS);
  for (const { path } of unused) rmSync(path, { force: true });
}

/** Replaces the file at once: another process may read it just now. */
function keep(kept: string, source: Buffer, data: Buffer): void {
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
