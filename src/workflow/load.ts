import { basename } from 'node:path';
import {
  isNoNote,
  type Platform,
  type Resolution,
  resolveEntry,
  resolveState,
  runsOn,
  type Scope,
  stem,
} from '../core/names.ts';
import type { Finding, State } from '../core/state.ts';
import { mapConcurrently } from './concurrent.ts';
import { folderSource } from './folder.ts';
import { InvalidWorkflow, refused } from './invalid.ts';
import { type Located, locate, wrongPath } from './locate.ts';
import { isError, newReport, WHOLE } from './report.ts';
import type { Source } from './source.ts';
import { readStateFile } from './state-file.ts';
import { zipSource } from './zip.ts';

/** A workflow that was found sound when it was opened. Its files may change while it runs. */
export interface Workflow {
  /** What its runs are named after. */
  readonly name: string;
  /** The folder, zip or state file, absolute. */
  readonly path: string;
  /** The file of the state in which it starts. */
  readonly entry: string;
  readonly platform: Platform;
  /** The files that it has now. */
  scope(): Promise<Scope>;
  /** A state as its file says it now; throws InvalidWorkflow if it can no longer be used. */
  state(file: string): Promise<State>;
  /** Where a state lies on disk by itself; null if it is inside a zip. */
  pathOf(file: string): string | null;
  /** The warnings found when it was opened. */
  readonly findings: readonly Finding[];
}

const MOST_READS = 32;

/** Opens a folder, a zip or a state file and checks all of it; throws one error that names everything wrong with it. */
export async function openWorkflow(path: string, platform: Platform): Promise<Workflow> {
  const located = await locate(path);
  const source = sourceOf(located);
  const scope = async (): Promise<Scope> => ({ files: (await source.list()).filter(isNoNote), platform });
  const atFirst = await scope();
  const entry = entryOf(located, atFirst);
  const findings = [...entryFindings(source.name, entry), ...(await checkAll(source, atFirst))];
  if (entry.kind !== 'found' || findings.some(isError)) throw new InvalidWorkflow(source.name, findings);
  return {
    name: nameOf(located),
    path: located.path,
    entry: entry.file,
    platform,
    scope,
    pathOf: source.pathOf,
    state: async (file) => readState(source, file, await scope()),
    findings,
  };
}

/** The files of what the user named. */
export function sourceOf(located: Located): Source {
  if (located.kind === 'zip') return zipSource(located.path);
  return folderSource(located.kind === 'state' ? located.folder : located.path);
}

/** A run of START.md is better named after its folder: every workflow has a START. */
export function nameOf(located: Located): string {
  const file = basename(located.path);
  if (located.kind === 'zip') return file.replace(/\.zip$/i, '') || file;
  if (located.kind === 'folder') return file || 'workflow';
  const name = stem(file);
  return name === 'START' || name === '1_START' ? basename(located.folder) || name : name;
}

function entryOf(located: Located, scope: Scope): Resolution {
  if (located.kind !== 'state') return resolveEntry(scope);
  const entry = resolveState(located.file, scope);
  if (entry.kind === 'found') return entry;
  const hidden = located.file.startsWith('.');
  throw wrongPath(hidden ? `${located.path} begins with a dot: such files are no states` : entry.message);
}

function entryFindings(name: string, entry: Resolution): readonly Finding[] {
  const report = newReport(name);
  if (entry.kind !== 'found') report.error(WHOLE, entry.message);
  return report.findings;
}

/** Checks every state that can run here; scripts of the other platform are none of ours. */
async function checkAll(source: Source, scope: Scope): Promise<readonly Finding[]> {
  const states = scope.files.filter((file) => runsOn(file, scope.platform));
  const read = await mapConcurrently(states, MOST_READS, (file) => readStateFile(source, file, scope));
  return read.flatMap(({ findings }) => findings);
}

async function readState(source: Source, file: string, scope: Scope): Promise<State> {
  const found = resolveState(file, scope);
  if (found.kind !== 'found') throw refused(file, found.message);
  const { state, findings } = await readStateFile(source, found.file, scope);
  if (state === null) throw new InvalidWorkflow(file, findings);
  return state;
}
