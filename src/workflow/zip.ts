import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { InvalidWorkflow, refused } from './invalid.ts';
import { quote } from './report.ts';
import { type Source, unreadable } from './source.ts';

/** Room for 64 MiB of files that do not shrink, with their names. */
const MOST_BYTES = 80 * 1024 * 1024;

type Files = ReadonlyMap<string, Uint8Array>;

/** The files of a zip. They are unpacked once and kept until the zip is seen to have changed. */
export function zipSource(path: string): Source {
  const name = basename(path);
  let kept: { readonly version: string; readonly files: Promise<Files> } | undefined;

  async function files(): Promise<Files> {
    const version = await stat(path, { bigint: true }).then(versionOf, (error: unknown) => {
      throw unreadable(name, error);
    });
    if (kept?.version !== version) {
      const reading = { version, files: unpackFile(path, name) };
      kept = reading;
      // A failure may be over by the next time: a zip is often met half written.
      reading.files.catch(() => {
        if (kept === reading) kept = undefined;
      });
    }
    return kept.files;
  }

  return {
    name,
    pathOf: () => null,
    list: async () => [...(await files()).keys()].sort(),
    async read(file) {
      const bytes = (await files()).get(file);
      if (bytes === undefined) throw refused(name, `it holds no ${quote(file)} (any more)`);
      return bytes;
    },
  };
}

/** Different for a file that was replaced or written again. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

async function unpackFile(path: string, name: string): Promise<Files> {
  const bytes = await readWhole(path, name).catch((error: unknown) => {
    throw error instanceof InvalidWorkflow ? error : unreadable(name, error);
  });
  // Only loaded when there is a zip: that takes longer than it takes to read most workflows.
  const { unzip } = await import('./unzip.ts');
  const unzipped = await unzip(bytes);
  if (unzipped.kind === 'refused') throw refused(name, unzipped.message);
  return unzipped.files;
}

async function readWhole(path: string, name: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > MOST_BYTES) throw refused(name, `it is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
