import { RaymondError } from '../errors.ts';
import { mayNameWorkflow, type WorkflowReference } from '../graph/workflow-mentions.ts';
import { sourceScope, specKey, type WorkflowSource, type WorkflowSourceFile } from '../graph/workflow-source.ts';
import { type CalledWorkflow, nameState, workflowNameOf } from '../language/named-workflows.ts';
import type { FileFinding } from '../language/state.ts';
import { type Resolution, resolveEntry, resolveState } from '../language/state-names.ts';
import { InvalidWorkflow } from './invalid-workflow.ts';
import { nameCalledWorkflow } from './locate.ts';
import {
  type LoadedSource,
  readLocatedSource,
  readScope,
  readWorkflowSource,
  type SourceSettings,
} from './workflow-source.ts';
import {
  findWorkflowRoot,
  locateFetched,
  locateSpec,
  looksLikeUrl,
  resolveLinks,
  resolveSpecPath,
  type SpecLocation,
} from './workflow-spec.ts';

/** Which other workflows a workflow may call. */
export interface CallLimits {
  /** The folder that they must be in; the usual one if it is null or left out. */
  readonly root?: string | null;
  /** How many may be nested in each other; null for no limit. */
  readonly maxDepth?: number | null;
  /** Those that have a name already, because a run has been in them. */
  readonly known?: Readonly<Record<string, CalledWorkflow>>;
  /** The folder of workflows that were fetched from the web; null if there is none. */
  readonly fetched?: string | null;
  /** A folder whose files are laid over those of the first workflow; null if there is none. */
  readonly overlay?: string | null;
}

/** One of the workflows that call each other. */
export interface WorkflowMember extends LoadedSource {
  /** The name that comes before those of its states; null for the one that all begins with. */
  readonly name: string | null;
  /** The name that its workers are called after. */
  readonly title: string;
  /** True if a tag names it by its address on the web. */
  readonly isFetched: boolean;
}

/** The target of a path in a tag: a state of one of the workflows, or the reason why there is none. */
export type SpecTarget =
  | { readonly kind: 'found'; readonly member: WorkflowMember; readonly state: string }
  | { readonly kind: 'missing'; readonly message: string };

/** A place that names a workflow, and what is there. */
export interface ResolvedReference extends WorkflowReference {
  /** The workflow in which it stands. */
  readonly from: WorkflowMember;
  readonly target: SpecTarget;
}

/**
 * Reads a workflow and all that can be reached from it, however broken they are. Throws only if there is nothing to read at
 * the path.
 */
export async function readWorkflowSet(
  path: string,
  settings: SourceSettings,
  limits: CallLimits = {},
): Promise<WorkflowSet> {
  const set = new WorkflowSet(await readWorkflowSource(path, settings, limits.overlay), settings, limits);
  await set.readAll(limits.known);
  return set;
}

/** Finds the places that name other workflows. The code that analyzes states is loaded only where there may be any: most runs need none of it. */
async function findReferences(source: WorkflowSource): Promise<readonly WorkflowReference[]> {
  if (!source.files.some(mayNameWorkflow)) return [];
  const { findWorkflowReferences } = await import('../graph/workflow-references.ts');
  return findWorkflowReferences(source);
}

/** A workflow and all that can be reached from it, each read once. More are added when an answer names them. */
export class WorkflowSet {
  readonly first: WorkflowMember;
  /** The places that name another workflow, as far as they are known before a run. */
  readonly references: ResolvedReference[] = [];
  private readonly settings: SourceSettings;
  /** The folder that all of them must be in, with its links resolved. */
  readonly root: string;
  private readonly known: ReadonlyMap<string, string>;
  private readonly fetched: string | null;
  /** The workflows found at the paths of tags. */
  private readonly located = new Map<string, SpecLocation>();
  private readonly byRoot = new Map<string, Promise<WorkflowMember>>();
  private readonly byName = new Map<string | null, WorkflowMember>();

  constructor(first: LoadedSource, settings: SourceSettings, { root = null, known = {}, fetched = null }: CallLimits) {
    this.fetched = fetched;
    this.settings = settings;
    this.root = resolveLinks(root ?? findWorkflowRoot(first.location));
    this.known = new Map(Object.entries(known).map(([name, { path }]) => [resolveLinks(path), name]));
    this.first = { ...first, name: null, title: first.source.name, isFetched: false };
    this.byRoot.set(resolveLinks(first.location.root), Promise.resolve(this.first));
    this.byName.set(null, this.first);
  }

  /** Those that have been read so far. */
  get members(): readonly WorkflowMember[] {
    return [...this.byName.values()];
  }

  /** The workflow that a state belongs to; undefined if it is not one of these. */
  memberOf(state: string): WorkflowMember | undefined {
    return this.byName.get(workflowNameOf(state));
  }

  /** Reads all workflows that can be reached from the first, and those that a run has been in. */
  async readAll(known: CallLimits['known'] = {}): Promise<void> {
    for (const { path } of Object.values(known)) await this.resolve(this.first, path);
    const found = new Set([this.first]);
    for (const from of found) {
      for (const reference of await findReferences(from.source)) {
        const target = await this.resolve(from, reference.spec, 'as read');
        this.references.push({ ...reference, from, target });
        if (target.kind === 'found') found.add(target.member);
      }
    }
  }

  /** The least number of workflows that are around each when it is entered by a known reference. */
  findDepths(): ReadonlyMap<WorkflowMember, number> {
    const depths = new Map([[this.first, 0]]);
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false;
      for (const { from, target, tag } of this.references) {
        const around = depths.get(from);
        if (around === undefined || target.kind !== 'found') continue;
        // Leaving for another workflow does not nest deeper.
        const depth = tag === 'reset-workflow' ? around : around + 1;
        if (depth >= (depths.get(target.member) ?? Number.POSITIVE_INFINITY)) continue;
        depths.set(target.member, depth);
        hasChanged = true;
      }
    }
    return depths;
  }

  /** Finds what the path in a tag leads to, and reads that workflow unless it is known. */
  async resolve(from: WorkflowMember, spec: string, files: 'now' | 'as read' = 'now'): Promise<SpecTarget> {
    const isFetched = looksLikeUrl(spec);
    const path = isFetched ? spec : resolveSpecPath(from.location, spec);
    const before = files === 'as read' ? this.located.get(path) : undefined;
    const located =
      before ?? (await (isFetched ? locateFetched(spec, this.fetched) : locateSpec(path, spec, this.root)));
    // Missing files are named as written, which may differ.
    if (!('problem' in located)) this.located.set(path, located);
    if ('problem' in located) return { kind: 'missing', message: located.problem };
    const { location } = located;
    const key = resolveLinks(location.root);
    const reading = this.byRoot.get(key) ?? this.read({ ...location, state: null }, key, isFetched);
    this.byRoot.set(key, reading);
    try {
      const member = await reading;
      const scope =
        files === 'now' ? await readScope(member.files, this.settings.platform) : sourceScope(member.source);
      const entry: Resolution = location.state === null ? resolveEntry(scope) : resolveState(location.state, scope);
      if (entry.kind === 'found') return { kind: 'found', member, state: nameState(member.name, entry.file) };
      return { kind: 'missing', message: explainNoEntry(entry.message, member === from && !spec.includes('/')) };
    } catch (error) {
      this.byRoot.delete(key);
      if (error instanceof InvalidWorkflow) return { kind: 'missing', message: joinMessages(error) };
      if (error instanceof RaymondError) return { kind: 'missing', message: error.message };
      throw error;
    }
  }

  private async read(location: LoadedSource['location'], key: string, isFetched: boolean): Promise<WorkflowMember> {
    const loaded = await readLocatedSource(location, this.settings);
    const title = loaded.manifest.id ?? nameCalledWorkflow(location);
    const member = { ...loaded, title, isFetched, name: this.known.get(key) ?? this.findFreeName(title) };
    this.byName.set(member.name, member);
    return member;
  }

  private findFreeName(title: string): string {
    const taken = new Set([...this.byName.keys(), ...this.known.values()]);
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? title : `${title}-${count}`;
      if (!taken.has(name)) return name;
    }
  }
}

/** The problem of an unreadable workflow, in one line. */
const joinMessages = ({ findings }: InvalidWorkflow): string =>
  findings.map(({ file, message }) => `${file}: ${message}`).join('; ');

/** Says of which workflow a message is. A plain name in a zip or in one file may have meant a state of it, or a neighbor of it. */
const explainNoEntry = (message: string, isPlainName: boolean): string =>
  isPlainName
    ? message
        .replace('there is no state', 'there is neither a state')
        .replace('in this workflow', 'in this workflow nor a workflow of that name beside it')
    : message.replace('in this workflow', 'in that workflow');

/** All workflows of a set as one source: the states of those that are called have the name of their workflow before theirs. */
export function mergeSources({ first, members, references }: WorkflowSet): WorkflowSource {
  if (references.length === 0) return first.source;
  const called = members.filter((member) => member !== first);
  const findings = members.flatMap((member) => prefixFindings(member, member.source.findings ?? []));
  return {
    ...first.source,
    variables: [...new Set(members.flatMap(({ source }) => source.variables))],
    ...(findings.length > 0 && { findings }),
    files: members.flatMap((member) => member.source.files.map((file) => prefixFile(member, file))),
    called: called.map(({ name, source, location }) => ({
      name: name ?? '',
      path: location.root,
      ...(source.anyExtension && { anyExtension: true }),
    })),
    specs: new Map(
      references.map(({ from, spec, target }) => [
        specKey(from.name, spec),
        target.kind === 'found' ? { kind: 'found', file: target.state } : { kind: 'unknown', message: target.message },
      ]),
    ),
  };
}

/** A file with the name of its workflow before its own, and in its findings. */
function prefixFile(member: WorkflowMember, source: WorkflowSourceFile): WorkflowSourceFile {
  if (member.name === null) return source;
  const file = nameState(member.name, source.file);
  if (source.kind !== 'state') return { ...source, file };
  return { ...source, file, state: { ...source.state, file }, findings: prefixFindings(member, source.findings) };
}

/** Findings with the name of their workflow before those of their files. */
export const prefixFindings = ({ name }: WorkflowMember, findings: readonly FileFinding[]): readonly FileFinding[] =>
  name === null ? findings : findings.map((finding) => ({ ...finding, file: nameState(name, finding.file) }));
