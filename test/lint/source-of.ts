import { resolveEntry, runsOn } from '../../src/core/state-names.ts';
import type { WorkflowSource } from '../../src/graph/workflow-source.ts';
import { parseStateFile } from '../../src/workflow/state-file.ts';

/** The files of a workflow by name. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A workflow made of these files, as lint looks at it. */
export function sourceOf(files: Files, changes: Partial<WorkflowSource> = {}): WorkflowSource {
  const platform = changes.platform ?? 'unix';
  const names = Object.keys(files).sort();
  return {
    name: 'example',
    platform,
    entry: resolveEntry({ files: names, platform }),
    entryGiven: false,
    resetStack: 'keep',
    variables: [],
    files: names.map((file) =>
      runsOn(file, platform) ? parseStateFile(file, bytesOf(files[file] ?? ''), platform) : { kind: 'other', file },
    ),
    ...changes,
  };
}

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : content;
