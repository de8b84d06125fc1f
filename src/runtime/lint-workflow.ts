import { join, relative, resolve } from 'node:path';
import { DEFAULT_OPTIONS } from '../core/options.ts';
import type { Platform } from '../core/state-names.ts';
import { type LintFinding, lintSource } from '../lint/lint.ts';
import type { LintLevel } from '../lint/rule.ts';
import { InvalidWorkflow } from '../workflow/invalid-workflow.ts';
import { readWorkflowSource, type SourceSettings } from '../workflow/workflow-source.ts';
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

/** Lints a folder, a zip or a state file. It throws only for a path that leads to no workflow. */
export async function lintWorkflow(path: string, request: LintRequest = {}): Promise<LintReport> {
  const cwd = resolve(request.cwd ?? process.cwd());
  const absolutePath = resolve(cwd, path);
  const displayPath = (file: string): string => relative(cwd, file) || '.';
  try {
    const { source, location } = await readWorkflowSource(absolutePath, readAnalysisSettings(cwd, request));
    const files = new Set(source.files.map(({ file }) => file));
    // A finding about the workflow as a whole has the workflow's path.
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

/** The settings that runs in a folder would have: those of the config files and of the request. */
export function readAnalysisSettings(cwd: string, { platform, variables = [], env = {} }: LintRequest): SourceSettings {
  const config = loadConfig(cwd, env).options;
  return {
    platform: platform ?? currentPlatform(),
    resetStack: config.resetStack ?? DEFAULT_OPTIONS.resetStack,
    variables: [...Object.keys(config.variables ?? {}), ...variables],
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
