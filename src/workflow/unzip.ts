import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import { codeOf } from '../errors.ts';
import { quote } from './report.ts';
import { layoutProblem, readName } from './zip-layout.ts';

/** What came out of a zip, or why it is refused. */
export type Unzipped =
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, Uint8Array> }
  | { readonly kind: 'refused'; readonly message: string };

const MOST_ENTRIES = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;

const MOST_MESSAGE = `it has more than ${MOST_ENTRIES.toLocaleString('en')} entries`;
const BIG_MESSAGE = 'it unpacks to more than 64 MiB';
const ENCRYPTED = 'it is encrypted: make it without a password';

const STORED = 0;
const DEFLATED = 8;
const FILE_TYPE = 0o170000;
const LINK = 0o120000;
const UTF8_NAME = 0x800;
const ENTRY_SIGNATURE = 0x02014b50;

const inflate = promisify(inflateRaw);

/** Unpacks a zip that holds one workflow. Nothing that the zip says about itself is believed before it is seen. */
export async function unzip(bytes: Buffer): Promise<Unzipped> {
  try {
    // Names come raw and sizes unchecked, because a refusal in our own words says what to do.
    const zip = await fromBufferPromise(bytes, { decodeStrings: false, validateEntrySizes: false });
    const kept = await chooseEntries(zip, bytes);
    const problem = layoutProblem(kept);
    if (problem !== undefined) throw new Refusal(problem);
    const files = new Map<string, Uint8Array>();
    let left = MOST_BYTES;
    for (const { entry, file } of kept) {
      const content = await unpack(zip, bytes, entry, file, left);
      left -= content.length;
      files.set(file, content);
    }
    return { kind: 'files', files };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', message: error.message };
    const said = error instanceof Error ? error.message : String(error);
    if (said.includes('strong encryption')) return { kind: 'refused', message: ENCRYPTED };
    return { kind: 'refused', message: `it is damaged or not a zip: ${said}` };
  }
}

/** Leaves the reading of a zip at once; it never gets out of this file. */
class Refusal extends Error {}

interface Kept {
  readonly entry: Entry;
  readonly folders: readonly string[];
  readonly file: string;
}

async function chooseEntries(zip: ZipFile, bytes: Buffer): Promise<readonly Kept[]> {
  if (zip.entryCount > MOST_ENTRIES) throw new Refusal(MOST_MESSAGE);
  const kept: Kept[] = [];
  for await (const entry of zip.eachEntry()) {
    const name = readName(nameOf(entry));
    if (name.kind === 'refused') throw new Refusal(name.message);
    if (name.kind === 'ignored') continue;
    if (((entry.externalFileAttributes >>> 16) & FILE_TYPE) === LINK) {
      throw new Refusal(`${quote(name.file)} in it is a link: zip the file itself`);
    }
    if (entry.isEncrypted()) throw new Refusal(ENCRYPTED);
    if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
      const method = `compression method ${entry.compressionMethod}`;
      throw new Refusal(`${quote(name.file)} in it uses ${method}: make the zip with the usual one (deflate)`);
    }
    kept.push({ entry, ...name });
  }
  // Old tools count to 65,535 and begin again; the files beyond the count would be missed without a word.
  const end = Number(zip.readEntryCursor);
  if (end + 4 <= bytes.length && bytes.readUInt32LE(end) === ENTRY_SIGNATURE) {
    throw new Refusal('it is damaged: it holds more entries than it says');
  }
  return kept;
}

/** Some tools write UTF-8 without saying so; names that cannot be UTF-8 are read as the old standard has it. */
function nameOf(entry: Entry): string {
  const { generalPurposeBitFlag: flags, fileNameRaw: raw, extraFields } = entry;
  if (isUtf8(raw)) return getFileNameLowLevel(flags | UTF8_NAME, raw, extraFields, true);
  if ((flags & UTF8_NAME) === 0) return getFileNameLowLevel(flags, raw, extraFields, true);
  throw new Refusal(`it is damaged: the name ${quote(raw.toString('utf8'))} in it is not UTF-8`);
}

async function unpack(zip: ZipFile, bytes: Buffer, entry: Entry, file: string, left: number): Promise<Uint8Array> {
  const damaged = (why: string): Refusal => new Refusal(`it is damaged: ${quote(file)} in it ${why}`);
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const packed = bytes.subarray(fileDataStart, fileDataStart + entry.compressedSize);
  const content =
    entry.compressionMethod === STORED
      ? Uint8Array.from(packed)
      : await inflate(packed, { maxOutputLength: left + 1 }).catch((error: unknown) => {
          throw codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? new Refusal(BIG_MESSAGE) : damaged('cannot be unpacked');
        });
  if (content.length > left) throw new Refusal(BIG_MESSAGE);
  if (content.length !== entry.uncompressedSize) {
    throw damaged(`should have ${entry.uncompressedSize} bytes and has ${content.length}`);
  }
  if (crc32(content) !== entry.crc32) throw damaged('does not match its checksum');
  return content;
}
