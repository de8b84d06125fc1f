import { isAbsolute, join } from 'node:path';
import { DEFAULT_OPTIONS } from '../core/options/options.ts';
import type { StateSource, WorkflowSource } from '../graph/workflow-source.ts';
import { fileInWorkflow, nameState } from '../language/named-workflows.ts';
import type { FileFinding, State } from '../language/state.ts';
import { isPrompt, type Platform, resolveState, type Scope } from '../language/state-names.ts';
import { isErrorFinding } from '../yaml/finding-report.ts';
import { digestState } from './code-digests.ts';
import { InvalidWorkflow, invalidWorkflowFile } from './invalid-workflow.ts';
import { workflowPathError } from './locate.ts';
import type { Manifest } from './manifest.ts';
import { findStartProblems } from './start-problems.ts';
import { findStateProblems } from './state-file.ts';
import { type FileContent, mapConcurrently } from './workflow-files.ts';
import {
  type CallLimits,
  mergeSources,
  prefixFindings,
  readWorkflowSet,
  type SpecTarget,
  type WorkflowMember,
  type WorkflowSet,
} from './workflow-set.ts';
import { readScope, readSourceFile } from './workflow-source.ts';

/**
 * A workflow that had no errors when it was opened, with those that it calls. Its files may change while it runs. The states
 * of a workflow that is called have its name before theirs, as in `review/START.md`.
 */
export interface Workflow {
  /** The name that its runs get. */
  readonly name: string;
  /** The folder, zip, one-file workflow or state in one of them, absolute. */
  readonly path: string;
  /** The file of the state in which it starts. */
  readonly entry: string;
  readonly platform: Platform;
  /** The folder that all workflows of a run must be in. */
  readonly root: string;
  /** Its manifest; empty if there is none. */
  readonly manifest: Manifest;
  /** All of it as it was when it was opened, for runs with the usual options. */
  readonly source: WorkflowSource;
  /** The warnings found when it was opened. */
  readonly findings: readonly FileFinding[];
  /** The workflow itself and those that it calls, as far as they have been opened. */
  members(): readonly WorkflowMember[];
  /** The workflow that a state belongs to; throws InvalidWorkflow if it is not there. */
  memberOf(state: string): WorkflowMember;
  /** Finds the workflow that a state names by this path, and opens it. */
  resolveSpec(state: string, spec: string): Promise<SpecTarget>;
  /** Lists the files that the workflow of a state has now; those of the first workflow if no state is given. */
  scope(state?: string): Promise<Scope>;
  /** The scope in which the states of all workflows can be named that have been opened. */
  scopes(): Promise<Scope>;
  /** Reads a state as it is now; throws InvalidWorkflow if it can no longer be used. */
  state(file: string): Promise<State>;
  /** Reads a state as `state` does, with the digest of its code. */
  stateWithCode(file: string): Promise<{ readonly state: State; readonly digest: string }>;
  /** Reads all files of one of the workflows as they are now, states or not, by name. */
  readFiles(member: WorkflowMember): Promise<ReadonlyMap<string, FileContent>>;
  /** The path of a state's own file on disk; null if it is inside a zip or a one-file workflow. */
  pathOf(file: string): string | null;
  /** Where a state is, for messages: the path of its file, or a name for it inside of a zip or a one-file workflow. */
  locate(state: string): string;
}

/**
 * Opens a folder, a zip or a state file with all workflows that can be reached from there, and checks them; throws one error
 * that names everything wrong with them.
 */
export async function openWorkflow(path: string, platform: Platform, limits: CallLimits = {}): Promise<Workflow> {
  const settings = { platform, resetStack: DEFAULT_OPTIONS.resetStack, variables: [] };
  const set = await readWorkflowSet(path, settings, limits);
  const { source, location, files, manifest } = set.first;
  const { name, entry } = source;
  if (entry.kind !== 'found' && location.state !== null) throw workflowPathError(entry.message);
  const merged = mergeSources(set);
  const findings = await findStartProblems(set, merged, limits.maxDepth ?? DEFAULT_OPTIONS.maxDepth);
  if (entry.kind !== 'found' || findings.some(isErrorFinding)) {
    const located = findings.map((finding) => ({ ...finding, file: locateFinding(set, finding) }));
    throw new InvalidWorkflow(files.name, located);
  }
  const memberOf = (state: string): WorkflowMember => {
    const member = set.memberOf(state);
    if (member === undefined) throw invalidWorkflowFile(state, 'its workflow cannot be opened any more: put it back');
    return member;
  };
  /** Listings of just now, each for one state that is entered next. */
  const latest = new Map<WorkflowMember, Promise<Scope>>();
  const scope = (state = entry.file): Promise<Scope> => {
    const member = memberOf(state);
    const listing = readScope(member.files, platform);
    latest.set(member, listing);
    setImmediate(() => latest.delete(member));
    return listing;
  };
  const readState = async (requested: string): Promise<StateSource> => {
    const member = memberOf(requested);
    const listing = latest.get(member) ?? readScope(member.files, platform);
    latest.delete(member);
    const currentScope = await listing;
    const resolved = resolveState(fileInWorkflow(requested), currentScope);
    if (resolved.kind !== 'found') throw invalidWorkflowFile(requested, resolved.message);
    const file = await readSourceFile(member.files, resolved.file, platform);
    const problems = prefixFindings(member, findStateProblems(file, currentScope));
    if (file.kind !== 'state' || problems.some(isErrorFinding)) throw new InvalidWorkflow(requested, problems);
    return { ...file, state: { ...file.state, file: nameState(member.name, file.file) } };
  };
  const pathOf = (state: string): string | null => memberOf(state).files.pathOf(fileInWorkflow(state));
  return {
    name,
    path: location.path,
    entry: entry.file,
    platform,
    root: set.root,
    manifest,
    source: merged,
    findings,
    members: () => set.members,
    memberOf,
    resolveSpec: (state, spec) => set.resolve(memberOf(state), spec),
    scope,
    async scopes() {
      const called = set.members.filter(({ name: prefix }) => prefix !== null);
      const entries = called.map(async (member) => [member.name, await readScope(member.files, platform)] as const);
      return { ...(await scope()), called: Object.fromEntries(await Promise.all(entries)) };
    },
    state: async (requested) => (await readState(requested)).state,
    async stateWithCode(requested) {
      const source = await readState(requested);
      return { state: source.state, digest: digestState(source) };
    },
    readFiles: async (member) =>
      new Map(
        await mapConcurrently(await member.files.list(), 32, async (file) => [file, await member.files.read(file)]),
      ),
    pathOf,
    locate: (state) => pathOf(state) ?? join(memberOf(state).location.root, fileInWorkflow(state)),
  };
}

/** True if a workflow, as it was opened, has prompts, for which it needs Claude Code. */
export const hasPrompts = ({ source }: Workflow): boolean => source.files.some(({ file }) => isPrompt(file));

/** The file of a finding: for a workflow that is called, with its path. */
function locateFinding(set: WorkflowSet, { file }: FileFinding): string {
  const member = set.memberOf(file);
  if (member === undefined || member.name === null || isAbsolute(file)) return file;
  const { kind, root } = member.location;
  return kind === 'yaml' ? root : join(root, fileInWorkflow(file));
}
