import { findWorkflowReferences } from '../../src/graph/workflow-references.ts';
import { sourceScope, specKey, type WorkflowSource } from '../../src/graph/workflow-source.ts';
import { nameState, normalizeSpec, workflowNameOf } from '../../src/language/named-workflows.ts';
import { type Resolution, resolveEntry, runsOn } from '../../src/language/state-names.ts';
import { parseStateFile } from '../../src/workflow/state-file.ts';

/** The files of a workflow by name. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/**
 * A workflow made of these files, as lint looks at it. Those with a folder in their name belong to a workflow that lies
 * beside it: the states of `lib/` are found at `../lib`.
 */
export function sourceOf(files: Files, changes: Partial<WorkflowSource> = {}): WorkflowSource {
  const source = plainSourceOf(files, changes);
  const called = [...new Set(source.files.flatMap(({ file }) => workflowNameOf(file) ?? []))];
  const specs = findWorkflowReferences(source).map(({ file, spec }): [string, Resolution] => {
    const name = called.find((each) => normalizeSpec(spec) === `../${each}`);
    const entry = name === undefined ? undefined : resolveEntry(sourceScope(source, name));
    const found: Resolution =
      entry?.kind === 'found'
        ? { kind: 'found', file: nameState(name ?? null, entry.file) }
        : { kind: 'unknown', message: `there is no ${spec}` };
    return [specKey(workflowNameOf(file), spec), found];
  });
  if (specs.length === 0) return source;
  return { ...source, called: called.map((name) => ({ name, path: `/${name}` })), specs: new Map(specs) };
}

function plainSourceOf(files: Files, changes: Partial<WorkflowSource>): WorkflowSource {
  const platform = changes.platform ?? 'unix';
  const names = Object.keys(files).sort();
  return {
    name: 'example',
    platform,
    entry: resolveEntry({ files: names.filter((file) => workflowNameOf(file) === null), platform }),
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
