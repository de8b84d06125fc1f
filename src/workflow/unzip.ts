import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import { errorCodeOf, errorMessageOf } from '../errors.ts';
import { quoteInMessage } from '../yaml/finding-report.ts';
import type { FileContent } from './workflow-files.ts';

/** The files of a zip, or the reason why it is refused. */
export type UnzipResult =
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, FileContent> }
  | { readonly kind: 'refused'; readonly message: string };

const MAX_ENTRIES = 10_000;
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

const TOO_MANY_MESSAGE = `it has more than ${MAX_ENTRIES.toLocaleString('en')} entries`;
const TOO_BIG_MESSAGE = 'it unpacks to more than 64 MiB';
const ENCRYPTED_MESSAGE = 'it is encrypted: make it without a password';

const STORED = 0;
const DEFLATED = 8;
const FILE_TYPE_MASK = 0o170000;
const SYMLINK_TYPE = 0o120000;
const ANY_EXECUTE_MODE = 0o111;
const UTF8_NAME_FLAG = 0x800;
const ENTRY_SIGNATURE = 0x02014b50;

const inflate = promisify(inflateRaw);

/** Unpacks a zip that contains one workflow. Sizes, counts and checksums that it states are all verified. */
export async function unzip(bytes: Buffer): Promise<UnzipResult> {
  try {
    // Names and sizes are checked here, because our own messages say what to do.
    const zip = await fromBufferPromise(bytes, { decodeStrings: false, validateEntrySizes: false });
    const accepted = await selectEntries(zip, bytes);
    const problem = findLayoutProblem(accepted);
    if (problem !== undefined) throw new Refusal(problem);
    const files = new Map<string, FileContent>();
    let remainingBytes = MAX_UNPACKED_BYTES;
    for (const { entry, file } of accepted) {
      const content = await unpackEntry(zip, bytes, entry, file, remainingBytes);
      remainingBytes -= content.length;
      files.set(file, { bytes: content, executable: (fileModeOf(entry) & ANY_EXECUTE_MODE) !== 0 });
    }
    return { kind: 'files', files };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', message: error.message };
    const reason = errorMessageOf(error);
    if (reason.includes('strong encryption')) return { kind: 'refused', message: ENCRYPTED_MESSAGE };
    return { kind: 'refused', message: `it is damaged or not a zip: ${reason}` };
  }
}

/** The mode that the file had on Unix; 0 if the zip does not know. */
const fileModeOf = ({ externalFileAttributes }: Entry): number => externalFileAttributes >>> 16;

/** Thrown to refuse a zip; it is always caught in `unzip`. */
class Refusal extends Error {}

interface AcceptedEntry {
  readonly entry: Entry;
  readonly folders: readonly string[];
  readonly file: string;
}

async function selectEntries(zip: ZipFile, bytes: Buffer): Promise<readonly AcceptedEntry[]> {
  if (zip.entryCount > MAX_ENTRIES) throw new Refusal(TOO_MANY_MESSAGE);
  const accepted: AcceptedEntry[] = [];
  for await (const entry of zip.eachEntry()) {
    const name = checkZipName(decodeEntryName(entry));
    if (name.kind === 'refused') throw new Refusal(name.message);
    if (name.kind === 'ignored') continue;
    if ((fileModeOf(entry) & FILE_TYPE_MASK) === SYMLINK_TYPE) {
      throw new Refusal(`${quoteInMessage(name.file)} in it is a link: zip the file itself`);
    }
    if (entry.isEncrypted()) throw new Refusal(ENCRYPTED_MESSAGE);
    if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
      const method = `compression method ${entry.compressionMethod}`;
      throw new Refusal(`${quoteInMessage(name.file)} in it uses ${method}: make the zip with the usual one (deflate)`);
    }
    accepted.push({ entry, ...name });
  }
  // Old tools count to 65,535 and begin again; the files beyond the count would be missed silently.
  const end = Number(zip.readEntryCursor);
  if (end + 4 <= bytes.length && bytes.readUInt32LE(end) === ENTRY_SIGNATURE) {
    throw new Refusal('it is damaged: it contains more entries than it states');
  }
  return accepted;
}

/** Decodes a name. Some tools write UTF-8 without the flag; names that are not UTF-8 are read as CP437, the old standard. */
function decodeEntryName(entry: Entry): string {
  const { generalPurposeBitFlag: flags, fileNameRaw: raw, extraFields } = entry;
  if (isUtf8(raw)) return getFileNameLowLevel(flags | UTF8_NAME_FLAG, raw, extraFields, true);
  if ((flags & UTF8_NAME_FLAG) === 0) return getFileNameLowLevel(flags, raw, extraFields, true);
  throw new Refusal(`it is damaged: the name ${quoteInMessage(raw.toString('utf8'))} in it is not UTF-8`);
}

async function unpackEntry(
  zip: ZipFile,
  bytes: Buffer,
  entry: Entry,
  file: string,
  remainingBytes: number,
): Promise<Uint8Array> {
  const damaged = (why: string): Refusal => new Refusal(`it is damaged: ${quoteInMessage(file)} in it ${why}`);
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const packed = bytes.subarray(fileDataStart, fileDataStart + entry.compressedSize);
  const content =
    entry.compressionMethod === STORED
      ? Uint8Array.from(packed)
      : await inflate(packed, { maxOutputLength: remainingBytes + 1 }).catch((error: unknown) => {
          throw errorCodeOf(error) === 'ERR_BUFFER_TOO_LARGE'
            ? new Refusal(TOO_BIG_MESSAGE)
            : damaged('cannot be unpacked');
        });
  if (content.length > remainingBytes) throw new Refusal(TOO_BIG_MESSAGE);
  if (content.length !== entry.uncompressedSize) {
    throw damaged(`should have ${entry.uncompressedSize} bytes and has ${content.length}`);
  }
  if (crc32(content) !== entry.crc32) throw damaged('does not match its checksum');
  return content;
}

/** A name in a zip after its check: a file in some folders, something to ignore, or a reason to refuse the zip. */
export type ZipName =
  | { readonly kind: 'file'; readonly folders: readonly string[]; readonly file: string }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly message: string };

/** Checks one name by itself. */
function checkZipName(name: string): ZipName {
  const refuse = (why: string): ZipName => ({
    kind: 'refused',
    message: `it contains ${quoteInMessage(name)}, ${why}`,
  });
  if (name.includes('\0')) return refuse('a name with a NUL character');
  if (name.includes('\\')) return refuse('a name with a backslash: make the zip with a tool that writes `/`');
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) return refuse('an absolute path; names must be relative');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return refuse('a path that leads out of the zip');
  const file = parts.at(-1);
  const isFolder = name === '' || name.endsWith('/');
  if (isFolder || file === undefined || parts[0] === '__MACOSX' || parts.some((part) => part.startsWith('.'))) {
    return { kind: 'ignored' };
  }
  return { kind: 'file', folders: parts.slice(0, -1), file };
}

/** Explains why the files of a zip do not form one flat workflow; undefined if they do. */
function findLayoutProblem(
  files: readonly { readonly folders: readonly string[]; readonly file: string }[],
): string | undefined {
  const [first] = files;
  if (first === undefined) return 'it is empty: it contains no files (dot files and `__MACOSX` do not count)';
  const nested = files.find(({ folders }) => folders.length > 1);
  if (nested !== undefined) {
    const path = quoteInMessage([...nested.folders, nested.file].join('/'));
    return `it contains folders within a folder (${path}): keep all states at the top, or in one folder`;
  }
  const atTop = files.find(({ folders }) => folders.length === 0);
  const topFolders = [...new Set(files.flatMap(({ folders }) => folders))];
  if (atTop !== undefined && topFolders[0] !== undefined) {
    return `it contains files at the top (${quoteInMessage(atTop.file)}) and a folder (${quoteInMessage(topFolders[0])}): keep all states in one place`;
  }
  if (topFolders.length > 1) {
    return `it contains several folders (${topFolders.slice(0, 3).map(quoteInMessage).join(', ')}${topFolders.length > 3 ? ', …' : ''}): zip one workflow at a time`;
  }
  const seen = new Set<string>();
  const duplicate = files.find(({ file }) => seen.size === seen.add(file).size);
  return duplicate && `it contains two files named ${quoteInMessage(duplicate.file)}`;
}
