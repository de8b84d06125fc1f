import { join, relative, resolve } from 'node:path';
import { type LintFinding, lint } from '../analysis/lint.ts';
import type { Level } from '../analysis/rule.ts';
import { readConfig } from '../config/config.ts';
import type { Platform } from '../core/names.ts';
import { DEFAULT_OPTIONS } from '../core/run.ts';
import { findRaymondFolder, layoutOf } from '../store/layout.ts';
import { InvalidWorkflow } from '../workflow/invalid.ts';
import { type Circumstances, readSheet } from '../workflow/sheet.ts';
import { withScriptFaults } from './bash-check.ts';
import { thisPlatform } from './platform.ts';

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
  const whole = resolve(cwd, path);
  const shown = (file: string): string => relative(cwd, file) || '.';
  try {
    const { sheet, root, isZip } = await readSheet(whole, circumstancesIn(cwd, request));
    const files = new Set(sheet.files.map(({ file }) => file));
    // What concerns the workflow as a whole is said of its name.
    const place = (file: string): string => shown(files.has(file) ? join(root, file) : whole);
    const findings = lint(await withScriptFaults(sheet)).map((finding) => ({ ...finding, file: place(finding.file) }));
    return { name: sheet.name, path: shown(whole), isZip, findings };
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const findings = error.findings.map(({ message }) => ({ ...UNREADABLE, file: shown(whole), message }));
    return { name: shown(whole), path: shown(whole), isZip: true, findings };
  }
}

/** What is known of runs that are started in a folder: its config, and what the user says. */
export function circumstancesIn(cwd: string, { platform, variables = [] }: LintRequest): Circumstances {
  const config = readConfig(layoutOf(findRaymondFolder(cwd)).config);
  return {
    platform: platform ?? thisPlatform(),
    resetStack: config.resetStack ?? DEFAULT_OPTIONS.resetStack,
    variables: [...Object.keys(config.variables ?? {}), ...variables],
  };
}

/** A zip, say, that cannot be opened. */
const UNREADABLE = {
  rule: 'unreadable-workflow',
  level: 'error',
  line: 0,
  column: 0,
  hint: 'Nothing else can be said about it before that is put right.',
  path: [],
} as const;

/** How many findings of each level there are. */
export function countLevels(findings: readonly LintFinding[]): Readonly<Record<Level, number>> {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  return { error: count('error'), warning: count('warning'), info: count('info') };
}
