import { isAbsolute, relative, sep } from 'node:path';
import type { StateSource } from '../graph/workflow-source.ts';
import { type CodeDigests, NO_CODE, type PinnedWorkflow } from '../language/pinned-code.ts';
import { memoize } from '../language/text/memoize.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { digestOf, isComplete, isProgram, ProgramFiles } from './program-files.ts';
import { splitPrompt } from './prompt-file.ts';
import { cacheUntilChanged } from './versioned-file.ts';
import type { LoadedSource } from './workflow-source.ts';
import { resolveLinks } from './workflow-spec.ts';

/** The digest of the code in a state: of a script as a whole, of a prompt only what its frontmatter says. */
export const digestState = memoize(({ state, text, settings, writtenSchema }: StateSource): string => {
  // A schema in a file of its own may change by itself.
  const schema = typeof writtenSchema?.value === 'string' ? JSON.stringify(state.resultSchema ?? null) : '';
  if (state.kind === 'script') return digestOf(`${settings ?? ''}${schema}${state.text}`);
  const written = settings ?? readFence(text);
  return written.trim() === '' ? NO_CODE : digestOf(written + schema);
});

function readFence(text: string): string {
  const parts = splitPrompt(text);
  return parts.kind === 'fenced' ? parts.yaml : '';
}

/** The code of a workflow as it was when it was read, with the programs in its folder as they are now. */
export async function digestWorkflow(loaded: LoadedSource, workFolder: string | null): Promise<PinnedWorkflow> {
  const programs = isApart(loaded, workFolder) ? await digestPrograms(loaded) : null;
  const hasHelpers = programs !== null && isComplete(programs);
  const { source } = loaded;
  const states = source.files.flatMap((file) =>
    file.kind === 'state' ? [[file.file, digestState(file)] as const] : [],
  );
  return {
    files: {
      ...Object.fromEntries(states),
      ...digestManifest(loaded),
      ...(hasHelpers && programs),
    },
    hasHelpers,
  };
}

/** The digest of what a workflow's manifest says. */
export const digestManifest = ({ manifestText }: LoadedSource): CodeDigests => ({
  [MANIFEST_FILE]: manifestText === '' ? NO_CODE : digestOf(manifestText),
});

/** The programs of a workflow as they are now: those below its folder, or those in its zip or file; only changed ones are read again. */
export const digestPrograms = (loaded: LoadedSource): Promise<CodeDigests> => programReader(loaded)();

const programReader = memoize(({ location: { kind, root }, files }: LoadedSource): (() => Promise<CodeDigests>) => {
  if (kind !== 'folder') return cacheUntilChanged(root, () => digestPackedPrograms(files));
  const folder = new ProgramFiles(root);
  return async () => folder.read();
});

async function digestPackedPrograms(files: LoadedSource['files']): Promise<CodeDigests> {
  const found: Record<string, string> = {};
  for (const file of await files.list()) {
    const { bytes } = await files.read(file);
    if (isProgram(file)) found[`./${file}`] = digestOf(bytes);
  }
  return found;
}

/** True if a workflow is apart from where agents work: if not, the programs beside its states are their work. */
export function isApart({ location: { kind, root } }: LoadedSource, workFolder: string | null): boolean {
  if (kind !== 'folder' || workFolder === null) return true;
  const path = relative(resolveLinks(root), resolveLinks(workFolder));
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}

/** One digest for all code of a workflow. */
export const digestAll = ({ files, hasHelpers }: PinnedWorkflow): string =>
  digestOf(JSON.stringify([hasHelpers, Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))]));
