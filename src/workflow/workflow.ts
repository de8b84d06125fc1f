import { isAbsolute, join } from 'node:path';
import { fileInWorkflow, nameState } from '../core/named-workflows.ts';
import { DEFAULT_OPTIONS } from '../core/options.ts';
import type { FileFinding, State } from '../core/state.ts';
import { isPrompt, type Platform, resolveState, type Scope } from '../core/state-names.ts';
import { sourceScope, type WorkflowSource } from '../graph/workflow-source.ts';
import { isErrorFinding } from '../yaml/finding-report.ts';
import { mapConcurrently } from './concurrent.ts';
import { InvalidWorkflow, invalidWorkflowFile } from './invalid-workflow.ts';
import { workflowPathError } from './locate.ts';
import type { Manifest } from './manifest.ts';
import { mergeSources, prefixFindings } from './merge-sources.ts';
import { findStateProblems } from './state-file.ts';
import type { FileContent } from './workflow-files.ts';
import {
  type CallLimits,
  type ResolvedReference,
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
  /** What it says about itself; it is empty if there is no manifest. */
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
  const hasErrors = source.findings?.some(isErrorFinding) ?? false;
  const findings = [
    // Without states the reason for that is enough.
    ...(entry.kind === 'found' || (hasErrors && source.files.length === 0)
      ? []
      : invalidWorkflowFile(files.name, entry.message).findings),
    ...set.members.flatMap((member) => prefixFindings(member, findMemberProblems(member))),
    ...findReferenceProblems(set, limits.maxDepth ?? DEFAULT_OPTIONS.maxDepth),
    ...(set.references.some(({ inPolicy }) => inPolicy)
      ? (await import('./endless-nesting.ts')).findEndlessNesting(merged)
      : []),
  ];
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
  const pathOf = (state: string): string | null => memberOf(state).files.pathOf(fileInWorkflow(state));
  return {
    name,
    path: location.path,
    entry: entry.file,
    platform,
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
    async state(requested) {
      const member = memberOf(requested);
      const listing = latest.get(member) ?? readScope(member.files, platform);
      latest.delete(member);
      const currentScope = await listing;
      const resolved = resolveState(fileInWorkflow(requested), currentScope);
      if (resolved.kind !== 'found') throw invalidWorkflowFile(requested, resolved.message);
      const file = await readSourceFile(member.files, resolved.file, platform);
      const problems = prefixFindings(member, findStateProblems(file, currentScope));
      if (file.kind !== 'state' || problems.some(isErrorFinding)) throw new InvalidWorkflow(requested, problems);
      return { ...file.state, file: nameState(member.name, file.file) };
    },
    readFiles: async (member) =>
      new Map(
        await mapConcurrently(await member.files.list(), 32, async (file) => [file, await member.files.read(file)]),
      ),
    pathOf,
    locate: (state) => pathOf(state) ?? join(memberOf(state).location.root, fileInWorkflow(state)),
  };
}

/** Whether a workflow, as it was opened, has prompts, for which it needs Claude Code. */
export const hasPrompts = ({ source }: Workflow): boolean => source.files.some(({ file }) => isPrompt(file));

/** Lists what is wrong with a workflow by itself. */
function findMemberProblems({ source }: WorkflowMember): readonly FileFinding[] {
  const scope = sourceScope(source);
  return [...(source.findings ?? []), ...source.files.flatMap((file) => findStateProblems(file, scope))];
}

/** Lists the policies that name a workflow which cannot be entered. A text may name one only to talk about it. */
function findReferenceProblems(set: WorkflowSet, maxDepth: number | null): readonly FileFinding[] {
  const depths = set.findDepths();
  return set.references.flatMap((reference): readonly FileFinding[] => {
    const { file, at, from, inPolicy } = reference;
    const problem = inPolicy ? explainReference(reference, depths, maxDepth) : undefined;
    if (problem === undefined) return [];
    const finding = {
      level: 'error',
      file: reportedFile(from, file),
      ...at,
      message: `\`target\`: ${problem}`,
    } as const;
    return prefixFindings(from, [finding]);
  });
}

function explainReference(
  { target, tag, spec, from }: ResolvedReference,
  depths: ReadonlyMap<WorkflowMember, number>,
  maxDepth: number | null,
): string | undefined {
  if (target.kind === 'missing') return target.message.includes(spec) ? target.message : `${spec}: ${target.message}`;
  const around = (depths.get(from) ?? 0) + (tag === 'reset-workflow' ? 0 : 1);
  if (maxDepth === null || around <= maxDepth) return undefined;
  return `${spec} would be nested in ${around} workflows, and at most ${maxDepth} are allowed (\`max_depth\`)`;
}

/** The file that findings about a state name: that of a one-file workflow itself, for its states. */
const reportedFile = ({ location, files }: WorkflowMember, file: string): string =>
  location.kind === 'yaml' ? files.name : file;

/** The file of a finding: for a workflow that is called, with its path. */
function locateFinding(set: WorkflowSet, { file }: FileFinding): string {
  const member = set.memberOf(file);
  if (member === undefined || member.name === null || isAbsolute(file)) return file;
  const { kind, root } = member.location;
  return kind === 'yaml' ? root : join(root, fileInWorkflow(file));
}
