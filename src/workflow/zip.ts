import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { quoteInMessage } from '../yaml/finding-report.ts';
import { InvalidWorkflow, invalidWorkflowFile } from './invalid-workflow.ts';
import { unreadableWorkflowFile, type WorkflowFiles } from './workflow-files.ts';

/** Room for 64 MiB of files that do not shrink, with their names. */
const MAX_ZIP_BYTES = 80 * 1024 * 1024;

type UnpackedFiles = ReadonlyMap<string, Uint8Array>;

/** The files of a zip. They are unpacked once and kept until the zip is seen to have changed. */
export function openWorkflowZip(path: string): WorkflowFiles {
  const name = basename(path);
  let cached: { readonly version: string; readonly files: Promise<UnpackedFiles> } | undefined;

  async function loadFiles(): Promise<UnpackedFiles> {
    const version = await stat(path, { bigint: true }).then(versionOf, (error: unknown) => {
      throw unreadableWorkflowFile(name, error);
    });
    if (cached?.version !== version) {
      const loading = { version, files: unpackZip(path, name) };
      cached = loading;
      // A failure may be over by the next time: a zip is often met half written.
      loading.files.catch(() => {
        if (cached === loading) cached = undefined;
      });
    }
    return cached.files;
  }

  return {
    name,
    pathOf: () => null,
    list: async () => [...(await loadFiles()).keys()].sort(),
    async read(file) {
      const bytes = (await loadFiles()).get(file);
      if (bytes === undefined) throw invalidWorkflowFile(name, `it holds no ${quoteInMessage(file)} (any more)`);
      return bytes;
    },
  };
}

/** Different for a file that was replaced or written again. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

async function unpackZip(path: string, name: string): Promise<UnpackedFiles> {
  const bytes = await readZipBytes(path, name).catch((error: unknown) => {
    throw error instanceof InvalidWorkflow ? error : unreadableWorkflowFile(name, error);
  });
  // Only loaded when there is a zip: that takes longer than it takes to read most workflows.
  const { unzip } = await import('./unzip.ts');
  const unzipped = await unzip(bytes);
  if (unzipped.kind === 'refused') throw invalidWorkflowFile(name, unzipped.message);
  return unzipped.files;
}

async function readZipBytes(path: string, name: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > MAX_ZIP_BYTES) throw invalidWorkflowFile(name, `it is larger than ${MAX_ZIP_BYTES / 1024 / 1024} MiB`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
