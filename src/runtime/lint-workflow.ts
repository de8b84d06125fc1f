import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileInWorkflow, workflowNameOf } from '../core/named-workflows.ts';
import { DEFAULT_OPTIONS } from '../core/options.ts';
import { isNotDocFile, isStateFile, type Platform } from '../core/state-names.ts';
import { comparePositions } from '../core/text-position.ts';
import { type LintFinding, lintSource } from '../lint/lint.ts';
import type { LintLevel } from '../lint/rule.ts';
import { InvalidWorkflow } from '../workflow/invalid-workflow.ts';
import { kindByName } from '../workflow/locate.ts';
import { mergeSources } from '../workflow/merge-sources.ts';
import { type CallLimits, readWorkflowSet, type WorkflowMember, type WorkflowSet } from '../workflow/workflow-set.ts';
import type { SourceSettings } from '../workflow/workflow-source.ts';
import { addBashSyntaxErrors } from './bash-syntax.ts';
import { loadConfig } from './load-config.ts';
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
  /** Whether its files are inside a zip, so that their paths lead to no file. */
  readonly isZip: boolean;
  readonly findings: readonly LintFinding[];
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
    const set = await readWorkflowSet(absolutePath, readAnalysisSettings(cwd, request), limitsOf(cwd, request));
    const source = mergeSources(set);
    const place = createFindingPlacer(set);
    const findings = lintSource(await addBashSyntaxErrors(source)).map((finding) => {
      const { file, ...placed } = place(finding);
      return { ...placed, file: displayPath(file) };
    });
    // The states of a one-file workflow are all in one file, in another order than by their names.
    const order = [...new Set(findings.map(({ file }) => file))];
    findings.sort((one, other) => order.indexOf(one.file) - order.indexOf(other.file) || comparePositions(one, other));
    return { name: source.name, path: displayPath(absolutePath), isZip: set.first.location.kind === 'zip', findings };
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const findings = error.findings.map(({ message }) => ({
      ...UNREADABLE_FINDING,
      file: displayPath(absolutePath),
      message,
    }));
    return { name: displayPath(absolutePath), path: displayPath(absolutePath), isZip: true, findings };
  }
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

/** Which other workflows may be called, as the request says. */
export const limitsOf = (cwd: string, { root = null }: LintRequest): CallLimits => ({
  root: root === null ? null : resolve(cwd, root),
});

/** The settings that runs in a folder would have: those of the config files and of the request. */
export function readAnalysisSettings(cwd: string, { platform, variables = [], env = {} }: LintRequest): SourceSettings {
  const config = loadConfig(cwd, env).options;
  return {
    platform: platform ?? currentPlatform(),
    resetStack: config.resetStack ?? DEFAULT_OPTIONS.resetStack,
    variables: [...Object.keys(config.variables ?? {}), ...variables],
    isInRepository: isInRepository(cwd),
  };
}

/** Whether a folder is part of a git repository. */
function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  return dirname(folder) !== folder && isInRepository(dirname(folder));
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
