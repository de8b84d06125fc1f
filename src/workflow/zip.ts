import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { quoteInMessage } from '../yaml/finding-report.ts';
import { InvalidWorkflow, invalidWorkflowFile, unreadableWorkflowFile } from './invalid-workflow.ts';
import { cacheUntilChanged } from './versioned-file.ts';
import type { FileContent, WorkflowFiles } from './workflow-files.ts';

/** Enough for 64 MiB of incompressible files, with their names. */
const MAX_ZIP_BYTES = 80 * 1024 * 1024;

type UnpackedFiles = ReadonlyMap<string, FileContent>;

/** Opens a zip as the files of a workflow. They are unpacked once and kept in memory until the zip changes. */
export function openWorkflowZip(path: string): WorkflowFiles {
  const name = basename(path);
  const loadFiles = cacheUntilChanged(path, () => unpackZip(path, name));
  return {
    name,
    pathOf: () => null,
    // Links in it were refused when it was unpacked.
    problemOf: () => undefined,
    list: async () => [...(await loadFiles()).keys()].sort(),
    async read(file) {
      const content = (await loadFiles()).get(file);
      if (content === undefined) throw invalidWorkflowFile(name, `it no longer contains ${quoteInMessage(file)}`);
      return content;
    },
  };
}

async function unpackZip(path: string, name: string): Promise<UnpackedFiles> {
  const bytes = await readZipBytes(path, name).catch((error: unknown) => {
    throw error instanceof InvalidWorkflow ? error : unreadableWorkflowFile(name, error);
  });
  checkStatedHash(bytes, name);
  // Loaded only for a zip: loading it takes longer than reading most workflows.
  const { unzip } = await import('./unzip.ts');
  const unzipped = await unzip(bytes);
  if (unzipped.kind === 'refused') throw invalidWorkflowFile(name, unzipped.message);
  return unzipped.files;
}

/** Refuses a zip whose name states another SHA-256 than it has, or leaves open which one it states. */
function checkStatedHash(bytes: Buffer, name: string): void {
  const [stated, ...others] = name.toLowerCase().match(/[0-9a-f]{64,}/g) ?? [];
  if (stated === undefined) return;
  if (others.length > 0 || stated.length > 64) throw invalidWorkflowFile(name, AMBIGUOUS_HASH);
  const hash = createHash('sha256').update(bytes).digest('hex');
  if (hash !== stated)
    throw invalidWorkflowFile(
      name,
      `its name states the SHA-256 of another file; its own is ${hash}: get it again, or rename it`,
    );
}

const AMBIGUOUS_HASH =
  'its name must hold one SHA-256 of 64 hex digits, set off by another character such as `-`, or none: rename it';

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
