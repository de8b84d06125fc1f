import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseScript } from '../../bash/parse.ts';
import { DEFAULT_OPTIONS, mergeOptions, type Options } from '../../core/options/options.ts';
import { RaymondError } from '../../errors.ts';
import { findGitPlace } from '../../git-repository.ts';
import { findWorkflowReferences } from '../../graph/workflow-references.ts';
import {
  positionInBody,
  type ScriptSyntaxError,
  type StateSource,
  sourceScope,
  type WorkflowSource,
  type WorkflowSourceFile,
} from '../../graph/workflow-source.ts';
import { fileInWorkflow, workflowNameOf } from '../../language/named-workflows.ts';
import { isNotDocFile, isStateFile, type Platform, resolveState } from '../../language/state-names.ts';
import { comparePositions, WHOLE_FILE } from '../../language/text/text.ts';
import { type LintFinding, lintSource } from '../../lint/lint.ts';
import type { LintLevel } from '../../lint/rule.ts';
import { execProgram } from '../../process/exec-program.ts';
import { findFolders } from '../../wiring/find-workflows.ts';
import type { ManifestAndSource } from '../../wiring/manifest-settings.ts';
import { callLimitsOf, withAbsoluteRoot } from '../../wiring/run-workflows.ts';
import { InvalidWorkflow } from '../../workflow/invalid-workflow.ts';
import { kindByName, locateWorkflow } from '../../workflow/locate.ts';
import { findStartProblems } from '../../workflow/start-problems.ts';
import { mapConcurrently } from '../../workflow/workflow-files.ts';
import {
  type CallLimits,
  mergeSources,
  readWorkflowSet,
  type WorkflowMember,
  type WorkflowSet,
} from '../../workflow/workflow-set.ts';
import { readLocatedSource, type SourceSettings } from '../../workflow/workflow-source.ts';
import { resolveLinks, resolveSpecPath } from '../../workflow/workflow-spec.ts';
import { loadConfig } from '../config/load-config.ts';
import { settleRun } from '../config/run-settings.ts';
import { currentPlatform } from './platform.ts';

/** How to lint a workflow. */
export interface LintRequest {
  readonly cwd?: string;
  /** The environment that tells where the user's own config file is; without it, that file is not read. */
  readonly env?: NodeJS.ProcessEnv;
  /** The platform that it is to run on; this machine's if it is left out. */
  readonly platform?: Platform;
  /** The folder outside of which no other workflow may be called; the usual one if it is null or left out. */
  readonly root?: string | null;
  /** Variables that its runs will have besides those of the config files. */
  readonly variables?: readonly string[];
}

/** The findings in one workflow. Its path and those of the files are relative to the working directory. */
export interface LintReport {
  readonly name: string;
  readonly path: string;
  /** True if its files are inside a zip, so that their paths lead to no file. */
  readonly isZip: boolean;
  readonly findings: readonly ReportedFinding[];
}

/** A finding of a report. */
interface ReportedFinding extends LintFinding {
  /** True if `raymond run` refuses to start the workflow because of it. */
  readonly preventsRun: boolean;
}

/** The workflows that a path stands for: a folder without states of its own stands for the one-file workflows in it. */
export function listWorkflowsAt(path: string, cwd: string): readonly string[] {
  const folder = resolve(cwd, path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const names = readdirSync(folder);
  if (names.some((name) => isStateFile(name) && isNotDocFile(name))) return [path];
  const isWorkflow = (name: string): boolean =>
    kindByName(name) === 'yaml' && /^states[ \t]*:/m.test(readFileSync(join(folder, name), 'utf8'));
  const found = names.filter(isWorkflow).map((name) => join(path, name));
  return found.length === 0 ? [path] : found;
}

/** Lints a folder, a zip, a one-file workflow or a state in one of them. It throws only for a path that leads to no workflow. */
export async function lintWorkflow(path: string, request: LintRequest = {}): Promise<LintReport> {
  const cwd = resolve(request.cwd ?? process.cwd());
  const absolutePath = resolve(cwd, path);
  const displayPath = (file: string): string => relative(cwd, file) || '.';
  try {
    const limits = limitsOf(cwd, request);
    const settings = readAnalysisSettings(cwd, request);
    const set = await readWorkflowSet(absolutePath, settings, limits);
    const source = mergeSources(set);
    const place = createFindingPlacer(set);
    const found = (await findMistakes(set, source, settings)).map(place);
    const findings = addRefusals(found, await findRefusals(set, source, cwd, request, place)).map((finding) => {
      return { ...finding, file: displayPath(finding.file) };
    });
    // The states of a one-file workflow are all in one file, in another order than by their names.
    const order = [...new Set(findings.map(({ file }) => file))];
    findings.sort((one, other) => order.indexOf(one.file) - order.indexOf(other.file) || comparePositions(one, other));
    return { name: source.name, path: displayPath(absolutePath), isZip: set.first.location.kind === 'zip', findings };
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const findings = error.findings.map(({ message }) => ({
      ...UNREADABLE_FINDING,
      preventsRun: true,
      file: displayPath(absolutePath),
      message,
    }));
    return { name: displayPath(absolutePath), path: displayPath(absolutePath), isZip: true, findings };
  }
}

/** Looks for mistakes; workflows around this one are read only if a state seems unreachable. */
async function findMistakes(
  { first }: WorkflowSet,
  source: WorkflowSource,
  settings: SourceSettings,
): Promise<readonly LintFinding[]> {
  const checked = await addBashSyntaxErrors(source);
  const found = lintSource(checked);
  if (!found.some(({ rule }) => rule === 'unreachable-state')) return found;
  const foreignEntries = await findForeignEntries(first, settings);
  return foreignEntries.length === 0 ? found : lintSource({ ...checked, foreignEntries });
}

/** Finds all that a run of these workflows would be refused for, as errors of lint. */
async function findRefusals(
  set: WorkflowSet,
  source: WorkflowSource,
  cwd: string,
  request: LintRequest,
  place: (finding: LintFinding) => LintFinding,
): Promise<readonly LintFinding[]> {
  const options = readRunOptions(cwd, request);
  const { maxDepth } = mergeOptions(DEFAULT_OPTIONS, options);
  const problems = (await findStartProblems(set, source, maxDepth)).filter(({ level }) => level === 'error');
  return [
    ...problems.map((problem) => ({ ...REFUSAL, ...problem })),
    ...explainSettings({ manifest: set.first.manifest, source, members: () => set.members }, options, cwd),
  ].map(place);
}

const REFUSAL = {
  rule: 'cannot-start',
  level: 'error',
  hint: 'Correct it: the workflow cannot start until then.',
  path: [],
} as const;

/** Says why the manifest and the config exclude each other, if they do. */
function explainSettings(workflow: ManifestAndSource, options: Partial<Options>, cwd: string): readonly LintFinding[] {
  try {
    settleRun(workflow, options, cwd);
    return [];
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const { message, hint = REFUSAL.hint } = error;
    return [{ ...REFUSAL, ...WHOLE_FILE, file: workflow.source.name, message, hint }];
  }
}

/** Marks the findings that a run is refused for, and adds the refusals that no rule has found. */
function addRefusals(found: readonly LintFinding[], refusals: readonly LintFinding[]): ReportedFinding[] {
  const isSamePlace = (one: LintFinding, other: LintFinding): boolean =>
    one.file === other.file && comparePositions(one, other) === 0;
  const isReported = (refusal: LintFinding): boolean =>
    found.some((finding) => finding.level === 'error' && isSamePlace(finding, refusal));
  return [
    ...found.map((finding) => {
      const preventsRun = finding.level === 'error' && refusals.some((refusal) => isSamePlace(finding, refusal));
      return { ...finding, preventsRun };
    }),
    ...refusals.filter((refusal) => !isReported(refusal)).map((refusal) => ({ ...refusal, preventsRun: true })),
  ];
}

/** Makes a function that gives a finding the path of its file; one about the workflow as a whole has the workflow's path. */
function createFindingPlacer(set: WorkflowSet): (finding: LintFinding) => LintFinding {
  const placers = new Map(set.members.map((member) => [member.name, createMemberPlacer(member)]));
  return (finding) => {
    const place = placers.get(workflowNameOf(finding.file));
    return place?.({ ...finding, file: fileInWorkflow(finding.file) }) ?? finding;
  };
}

function createMemberPlacer({ source: { files }, location }: WorkflowMember): (finding: LintFinding) => LintFinding {
  const { kind, root, path } = location;
  const origins = new Map(
    files.flatMap((each) => (each.kind === 'state' && each.origin ? [[each.file, each.origin]] : [])),
  );
  // The manifest is among the files of a folder or zip.
  const names = new Set(files.map(({ file }) => file));
  return (finding) => {
    const origin = origins.get(finding.file);
    if (kind === 'yaml') return { ...finding, ...(finding.line === 0 && origin?.at), file: root };
    return { ...finding, file: names.has(finding.file) ? join(root, finding.file) : path };
  };
}

/** The options that runs in a folder would have by the config files and the request. */
function readRunOptions(cwd: string, { root = null, env = {} }: LintRequest): Partial<Options> {
  return withAbsoluteRoot({ ...loadConfig(cwd, env).options, ...(root !== null && { root }) }, cwd);
}

/** Which other workflows may be called, as the config files and the request say. */
export const limitsOf = (cwd: string, request: LintRequest): CallLimits =>
  callLimitsOf(mergeOptions(DEFAULT_OPTIONS, readRunOptions(cwd, request)), request.env ?? {});

/** The settings that runs in a folder would have: those of the config files and of the request. */
export function readAnalysisSettings(cwd: string, { platform, variables = [], env = {} }: LintRequest): SourceSettings {
  const config = loadConfig(cwd, env).options;
  return {
    platform: platform ?? currentPlatform(),
    resetStack: config.resetStack ?? DEFAULT_OPTIONS.resetStack,
    variables: [...Object.keys(config.variables ?? {}), ...variables],
    isInRepository: findGitPlace(cwd) !== null,
  };
}

/** The finding for a workflow that cannot be opened, such as a damaged zip. */
const UNREADABLE_FINDING = {
  rule: 'unreadable-workflow',
  level: 'error',
  line: 0,
  column: 0,
  hint: 'Fix this first: nothing else can be checked before.',
  path: [],
} as const;

/** Counts the findings of each level. */
export function countLevels(findings: readonly LintFinding[]): Readonly<Record<LintLevel, number>> {
  const count = (level: LintLevel): number => findings.filter((finding) => finding.level === level).length;
  return { error: count('error'), warning: count('warning'), info: count('info') };
}

/** Workflows that belong together are near each other: no more than these are read. */
const LIMITS = { maxFolders: 200, withZips: true };
const MAX_WORKFLOWS = 100;

/** Finds the states of a workflow that the workflows around it enter by name. */
async function findForeignEntries(member: WorkflowMember, settings: SourceSettings): Promise<readonly string[]> {
  const root = resolveLinks(member.location.root);
  const { workflows } = await findFolders(dirname(root), LIMITS);
  const scope = sourceScope(member.source);
  const entered = new Set<string>();
  for (const path of workflows.filter((each) => resolveLinks(each) !== root).slice(0, MAX_WORKFLOWS)) {
    try {
      const { source, location } = await readLocatedSource(await locateWorkflow(path), settings);
      for (const { spec } of findWorkflowReferences(source)) {
        const target = await locateWorkflow(resolveSpecPath(location, spec)).catch(() => null);
        if (target === null || target.state === null || resolveLinks(target.root) !== root) continue;
        const resolved = resolveState(target.state, scope);
        if (resolved.kind === 'found') entered.add(resolved.file);
      }
    } catch (error) {
      // A workflow that cannot be read enters nothing.
      if (!(error instanceof RaymondError)) throw error;
    }
  }
  return [...entered];
}

const MAX_CONCURRENT = 4;
const TIMEOUT_MS = 5_000;

/** Lets bash check the scripts that our own parser cannot read, without running anything. */
export async function addBashSyntaxErrors(source: WorkflowSource): Promise<WorkflowSource> {
  if (!source.files.some(needsBashCheck)) return source;
  const files = await mapConcurrently(source.files, MAX_CONCURRENT, async (file) =>
    needsBashCheck(file) ? { ...file, syntaxError: await findSyntaxError(file) } : file,
  );
  return { ...source, files };
}

/** Scripts with CRs have a finding of their own: bash reports nothing but these. */
const needsBashCheck = (file: WorkflowSourceFile): file is StateSource =>
  file.kind === 'state' &&
  file.file.endsWith('.sh') &&
  !file.state.text.includes('\r') &&
  parseScript(file.state.text) === undefined;

async function findSyntaxError({ state, origin }: StateSource): Promise<ScriptSyntaxError | null> {
  const env = { LC_ALL: 'C' };
  const { stderr, exitCode } = await execProgram('/bin/bash', ['-O', 'extglob', '-n'], {
    cwd: '/',
    env,
    timeoutMs: TIMEOUT_MS,
    stdin: state.text,
  });
  const [, line, message] = /line (\d+): (?!warning)(.*)/.exec(stderr) ?? [];
  if (exitCode === 0 || line === undefined || message === undefined) return null;
  const at = { line: Number(line), column: 1 };
  return { at: origin === undefined ? at : positionInBody(origin, at), message };
}
