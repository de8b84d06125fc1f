import { statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { PromptTurn, ScriptTurn } from '../core/turns/due.ts';
import { RaymondError } from '../errors.ts';
import type { WorkflowSourceFile } from '../graph/workflow-source.ts';
import { type EnteredWorkflow, fileInWorkflow, nameState, type RefusedWorkflow } from '../language/named-workflows.ts';
import {
  acceptFiles,
  type ChangedFile,
  type CodeDigests,
  findChangedFiles,
  type PinnedCode,
  type PinnedWorkflow,
} from '../language/pinned-code.ts';
import type { PolicyEntry } from '../language/policy.ts';
import type { State } from '../language/state.ts';
import { isPrompt } from '../language/state-names.ts';
import { isWorkflowTag } from '../language/transitions/index.ts';
import { ChangedCodeError } from '../turns/signals.ts';
import { digestAll, digestManifest, digestPrograms, digestWorkflow, isApart } from '../workflow/code-digests.ts';
import { locateWorkflow } from '../workflow/locate.ts';
import { ProgramFiles } from '../workflow/program-files.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { WorkflowMember } from '../workflow/workflow-set.ts';
import { type LoadedSource, readLocatedSource } from '../workflow/workflow-source.ts';
import { resolveLinks } from '../workflow/workflow-spec.ts';

/** The run whose code is compared: its id, and the folder that it was started in. */
interface GuardedRun {
  readonly id: string;
  readonly startFolder: string | null;
}

/** Changed code that a pause has told of: a file with its content then, or whatever the file of a state holds. */
export type ToldChange = ChangedFile | { readonly state: string };

/** Compares the code that turns are about to use with what the run has pinned. */
export class CodeGuard {
  private readonly workflow: Workflow;
  private readonly run: GuardedRun;
  private readonly paths = new Map<WorkflowMember, readonly string[]>();
  private readonly manifests = new Map<WorkflowMember, CodeDigests>();
  private readonly unpacked = new Map<WorkflowMember, ProgramFiles>();
  private readonly compared = new WeakMap<CodeDigests, CodeDigests>();

  constructor(workflow: Workflow, run: GuardedRun) {
    this.workflow = workflow;
    this.run = run;
  }

  /** Pins the code of all workflows that are open, and lists those that answers may name. */
  async pin(): Promise<PinnedCode> {
    const { workflow, run } = this;
    const pinned = workflow.members().map(async (member) => {
      const code = await digestWorkflow(member, run.startFolder);
      return this.pathsOf(member).map((path) => [path, code] as const);
    });
    const workflows = Object.fromEntries((await Promise.all(pinned)).flat());
    return { workflows, listed: await this.list(workflows) };
  }

  /** Warns of workflows whose helpers cannot be pinned, because there are too many files beside them. */
  warnOfUnpinned(code: PinnedCode): readonly string[] {
    return this.workflow.members().flatMap((member) => {
      const hasHelpers = this.findPinned(member, code)?.[1].hasHelpers ?? true;
      if (hasHelpers || !isApart(member, this.run.startFolder)) return [];
      const { root } = member.location;
      return [
        `${root} holds too many files to compare the programs beside its states: keep a workflow in a folder of its own`,
      ];
    });
  }

  private async list(known: PinnedCode['workflows']): Promise<PinnedCode['listed']> {
    const found = await listNameableWorkflows(this.workflow);
    const listed = await Promise.all(
      found.map(async (loaded) => {
        const path = this.pathTo(resolveLinks(loaded.location.root));
        return [path, digestAll(await digestWorkflow(loaded, this.run.startFolder))] as const;
      }),
    );
    return Object.fromEntries(listed.filter(([path]) => !Object.hasOwn(known, path)));
  }

  /** Reads the state of a turn; throws ChangedCodeError if the turn would use code that the run has not pinned. */
  async read({ state: file, kind, code }: Pick<PromptTurn | ScriptTurn, 'state' | 'kind' | 'code'>): Promise<State> {
    const { state, digest } = await this.workflow.stateWithCode(file);
    if (code === undefined) return state;
    const member = this.workflow.memberOf(file);
    const known = this.findPinned(member, code);
    if (known === undefined) throw this.refuse(file, `its workflow ${member.location.root} is new to the run`, []);
    const [path, pinned] = known;
    const own = { [fileInWorkflow(file)]: digest, ...this.manifestOf(member) };
    const programs = kind === 'script' && pinned.hasHelpers ? await digestPrograms(member) : NO_PROGRAMS;
    const changed = [
      ...findChangedFiles(path, pinned.files, own),
      ...(this.isCompared(programs, pinned) ? [] : findChangedFiles(path, pinned.files, programs)),
    ];
    if (changed.length === 0) this.compared.set(programs, pinned.files);
    else throw this.refuse(file, describeChanges(member, pinned, changed), changed);
    return state;
  }

  /** Throws ChangedCodeError if a program that was unpacked into this folder is no longer as the zip or the file has it. */
  async checkUnpacked(file: string, folder: string): Promise<void> {
    const member = this.workflow.memberOf(file);
    const unpacked = this.unpacked.get(member) ?? new ProgramFiles(folder);
    this.unpacked.set(member, unpacked);
    const [changed] = findChangedFiles('', await digestPrograms(member), unpacked.read());
    if (changed === undefined) return;
    const message = `${join(folder, changed.file)} is not as it was unpacked from ${member.location.root}`;
    throw new ChangedCodeError(`${file}: ${message}; \`raymond resume ${this.run.id}\` unpacks it again`, []);
  }

  /** The code to pin for a workflow that an answer names, if any; or why the answer may not name it. */
  async permit(
    member: WorkflowMember,
    code: PinnedCode | undefined,
    isAccepted = false,
  ): Promise<Pick<EnteredWorkflow, 'code'> | RefusedWorkflow> {
    if (code === undefined || this.findPinned(member, code) !== undefined) return {};
    const path = this.pathTo(resolveLinks(member.location.root));
    const listed = Object.hasOwn(code.listed, path) ? code.listed[path] : undefined;
    if (listed === undefined && !isAccepted) {
      const known = `those that its states name, and those that were below ${this.workflow.root} when it started`;
      return { problem: `it is not one of the workflows that this run may enter: ${known}`, isUnknown: true };
    }
    const pinned = await digestWorkflow(member, this.run.startFolder);
    if (digestAll(pinned) !== listed && !isAccepted)
      return { problem: 'its code has changed since the run started', isUnknown: true };
    return { code: { path, pinned } };
  }

  /**
   * The code of the run once a person has accepted what has changed, and the files that were. Accepted is what a paused agent
   * has told of, and what changed after the run had ended: then none of its agents was at work.
   */
  async accept(
    code: PinnedCode,
    told: readonly ToldChange[],
    endedAtMs: number,
  ): Promise<{ readonly code: PinnedCode; readonly accepted: readonly string[] }> {
    const isTold = ({ workflow, file, digest }: ChangedFile, state: string): boolean =>
      told.some((each) =>
        'state' in each
          ? each.state === state
          : each.workflow === workflow && each.file === file && each.digest === digest,
      );
    const accepted: ChangedFile[] = [];
    const paths = new Set<string>();
    for (const member of this.workflow.members()) {
      const known = this.findPinned(member, code);
      if (known === undefined) continue;
      const [path, { files, hasHelpers }] = known;
      const now = await digestWorkflow(member, this.run.startFolder);
      const compared = Object.entries(now.files).filter(([file]) => hasHelpers || !file.startsWith('./'));
      for (const changed of findChangedFiles(path, files, Object.fromEntries(compared))) {
        if (!isTold(changed, nameState(member.name, changed.file)) && changedAtMs(member, changed.file) <= endedAtMs)
          continue;
        accepted.push(changed);
        paths.add(pathIn(member, changed.file));
      }
    }
    return { code: accepted.length === 0 ? code : acceptFiles(code, accepted), accepted: [...paths] };
  }

  /** True if these programs have been compared with the same code before, and nothing had changed. */
  private isCompared(programs: CodeDigests, { files }: PinnedWorkflow): boolean {
    return programs === NO_PROGRAMS || this.compared.get(programs) === files;
  }

  private refuse(file: string, what: string, changed: readonly ChangedFile[]): ChangedCodeError {
    const message = `${file}: ${what}; check it, then \`raymond resume ${this.run.id}\` accepts it`;
    return new ChangedCodeError(message, changed);
  }

  private findPinned(member: WorkflowMember, { workflows }: PinnedCode): readonly [string, PinnedWorkflow] | undefined {
    for (const path of this.pathsOf(member)) {
      const pinned = Object.hasOwn(workflows, path) ? workflows[path] : undefined;
      if (pinned !== undefined) return [path, pinned];
    }
    return undefined;
  }

  /** The manifest as it was read: nothing else of it has an effect. */
  private manifestOf(member: WorkflowMember): CodeDigests {
    const known = this.manifests.get(member) ?? digestManifest(member);
    this.manifests.set(member, known);
    return known;
  }

  /** The paths under which a workflow may be pinned: another machine may have it without the links that led to it. */
  private pathsOf(member: WorkflowMember): readonly string[] {
    if (member.name === null) return OWN_PATH;
    // Nodes have it elsewhere.
    if (member.isFetched) return [`web:${basename(member.location.root)}`];
    const { root } = member.location;
    const first = this.workflow.memberOf(this.workflow.entry).location.root;
    const paths = this.paths.get(member) ?? [
      ...new Set([this.pathTo(resolveLinks(root)), toSlashes(relative(first, root))]),
    ];
    this.paths.set(member, paths);
    return paths;
  }

  private pathTo(root: string): string {
    const first = this.workflow.memberOf(this.workflow.entry).location.root;
    return toSlashes(relative(resolveLinks(first), root));
  }
}

const NO_PROGRAMS: CodeDigests = {};
const OWN_PATH = [''] as const;

const toSlashes = (path: string): string => path.split(sep).join('/');

/** The path of a file of a workflow, for people. */
const pathIn = ({ location: { root } }: WorkflowMember, file: string): string => join(root, file);

/** When a file was last changed in any way, which nobody can set; for a packed one, when its zip was. */
function changedAtMs({ location: { kind, root } }: WorkflowMember, file: string): number {
  return statSync(kind === 'folder' ? join(root, file) : root, { throwIfNoEntry: false })?.ctimeMs ?? 0;
}

const MAX_NAMED_FILES = 3;

function describeChanges(member: WorkflowMember, { files }: PinnedWorkflow, changed: readonly ChangedFile[]): string {
  const described = new Map(
    changed.map(({ file }) => {
      const path = pathIn(member, file);
      const subject = isPrompt(file) && !file.startsWith('./') ? `the frontmatter of ${path}` : path;
      const isKnown = Object.hasOwn(files, file) && files[file] !== '';
      return [path, isKnown ? `${subject} has changed since the run first read it` : `${subject} is new to the run`];
    }),
  );
  const sentences = [...described.values()];
  const more = sentences.length - MAX_NAMED_FILES;
  return [...sentences.slice(0, MAX_NAMED_FILES), ...(more > 0 ? [`${more} more files have changed`] : [])].join(', ');
}

/** A root with more is searched no further: what is beyond has to be named in a policy. */
const LIMITS = { maxFolders: 2_000, withZips: true };
const MAX_WORKFLOWS = 500;

/** The finding for each workflow when it was opened; several runs of a test share one. */
const found = new WeakMap<Workflow, Promise<readonly LoadedSource[]>>();

/** The workflows below the root, if a state leaves it to its answer which one to enter; otherwise nobody has to look for them. */
function listNameableWorkflows(workflow: Workflow): Promise<readonly LoadedSource[]> {
  const known = found.get(workflow) ?? search(workflow);
  found.set(workflow, known);
  return known;
}

async function search(workflow: Workflow): Promise<readonly LoadedSource[]> {
  if (!workflow.members().some(({ source }) => source.files.some(leavesWorkflowOpen))) return [];
  const { root, entry, platform } = workflow;
  // Folders with a dot are not searched, but a workflow in one may have others beside it.
  const beside = dirname(workflow.memberOf(entry).location.root);
  const folders = [root, ...(beside === root || !beside.startsWith(root) ? [] : [beside])];
  const paths = new Set<string>();
  // Most runs need none of it.
  const { findFolders } = await import('./find-workflows.ts');
  for (const folder of folders) for (const path of (await findFolders(folder, LIMITS)).workflows) paths.add(path);
  const settings = { platform, resetStack: workflow.source.resetStack, variables: [] };
  const loaded: LoadedSource[] = [];
  for (const path of [...paths].slice(0, MAX_WORKFLOWS)) {
    try {
      loaded.push(await readLocatedSource(await locateWorkflow(path), settings));
    } catch (error) {
      // One that cannot be read cannot be entered either.
      if (!(error instanceof RaymondError)) throw error;
    }
  }
  return loaded;
}

/** True if the answer of a state may name any workflow. A state that says nothing of workflows is not asked for one. */
function leavesWorkflowOpen(file: WorkflowSourceFile): boolean {
  if (file.kind !== 'state') return false;
  const { policy } = file.state.rules;
  return policy.length === 0 ? file.text.includes('-workflow') : policy.some(isOpen);
}

const isOpen = ({ tag, target }: PolicyEntry): boolean => isWorkflowTag(tag) && target === null;
