import { join, relative, resolve } from 'node:path';
import { readConfigOptions } from '../config/config.ts';
import { DEFAULT_OPTIONS } from '../core/options.ts';
import type { Platform } from '../core/state-names.ts';
import { type LintFinding, lintSource } from '../lint/lint.ts';
import type { LintLevel } from '../lint/rule.ts';
import { findRaymondFolder, layoutOf } from '../store/layout.ts';
import { InvalidWorkflow } from '../workflow/invalid-workflow.ts';
import { readWorkflowSource, type SourceSettings } from '../workflow/workflow-source.ts';
import { addBashSyntaxErrors } from './bash-syntax.ts';
import { currentPlatform } from './platform.ts';

/** For whom a workflow is looked at. */
export interface LintRequest {
  readonly cwd?: string;
  /** The kind of machine that it is to run on; this one if it is left out. */
  readonly platform?: Platform;
  /** Variables that its runs will have besides those of the config. */
  readonly variables?: readonly string[];
}

/** What was found in one workflow. Its path and those of the files are as one would write them in that folder. */
export interface LintReport {
  readonly name: string;
  readonly path: string;
  /** Whether its files are inside of a zip, so that their paths lead to no file. */
  readonly isZip: boolean;
  readonly findings: readonly LintFinding[];
}

/** Looks for mistakes in a folder, a zip or a state file. Only a path that leads to no workflow is an error. */
export async function lintWorkflow(path: string, request: LintRequest = {}): Promise<LintReport> {
  const cwd = resolve(request.cwd ?? process.cwd());
  const absolutePath = resolve(cwd, path);
  const displayPath = (file: string): string => relative(cwd, file) || '.';
  try {
    const { source, location } = await readWorkflowSource(absolutePath, readAnalysisSettings(cwd, request));
    const files = new Set(source.files.map(({ file }) => file));
    // What concerns the workflow as a whole is said of its name.
    const displayFile = (file: string): string =>
      displayPath(files.has(file) ? join(location.root, file) : absolutePath);
    const findings = lintSource(await addBashSyntaxErrors(source)).map((finding) => ({
      ...finding,
      file: displayFile(finding.file),
    }));
    return { name: source.name, path: displayPath(absolutePath), isZip: location.kind === 'zip', findings };
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

/** What is known of runs that are started in a folder: its config, and what the user says. */
export function readAnalysisSettings(cwd: string, { platform, variables = [] }: LintRequest): SourceSettings {
  const config = readConfigOptions(layoutOf(findRaymondFolder(cwd)).configFile);
  return {
    platform: platform ?? currentPlatform(),
    resetStack: config.resetStack ?? DEFAULT_OPTIONS.resetStack,
    variables: [...Object.keys(config.variables ?? {}), ...variables],
  };
}

/** A zip, say, that cannot be opened. */
const UNREADABLE_FINDING = {
  rule: 'unreadable-workflow',
  level: 'error',
  line: 0,
  column: 0,
  hint: 'Nothing else can be said about it before that is put right.',
  path: [],
} as const;

/** How many findings of each level there are. */
export function countLevels(findings: readonly LintFinding[]): Readonly<Record<LintLevel, number>> {
  const count = (level: LintLevel): number => findings.filter((finding) => finding.level === level).length;
  return { error: count('error'), warning: count('warning'), info: count('info') };
}
