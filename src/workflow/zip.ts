import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { quoteInMessage } from '../yaml/finding-report.ts';
import { InvalidWorkflow, invalidWorkflowFile, unreadableWorkflowFile } from './invalid-workflow.ts';
import type { WorkflowFiles } from './workflow-files.ts';

/** Enough for 64 MiB of incompressible files, with their names. */
const MAX_ZIP_BYTES = 80 * 1024 * 1024;

type UnpackedFiles = ReadonlyMap<string, Uint8Array>;

/** Opens a zip as the files of a workflow. They are unpacked once and kept in memory until the zip changes. */
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
      // The next try may succeed: the zip may be half written.
      loading.files.catch(() => {
        if (cached === loading) cached = undefined;
      });
    }
    return cached.files;
  }

  return {
    name,
    pathOf: () => null,
    // Links in it were refused when it was unpacked.
    problemOf: () => undefined,
    list: async () => [...(await loadFiles()).keys()].sort(),
    async read(file) {
      const bytes = (await loadFiles()).get(file);
      if (bytes === undefined) throw invalidWorkflowFile(name, `it no longer contains ${quoteInMessage(file)}`);
      return bytes;
    },
  };
}

/** Identifies a version of a file: it differs once the file was replaced or written to. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

async function unpackZip(path: string, name: string): Promise<UnpackedFiles> {
  const bytes = await readZipBytes(path, name).catch((error: unknown) => {
    throw error instanceof InvalidWorkflow ? error : unreadableWorkflowFile(name, error);
  });
  // Loaded only for a zip: loading it takes longer than reading most workflows.
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
