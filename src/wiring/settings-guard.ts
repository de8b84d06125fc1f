import { existsSync, lstatSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { PromptTurn } from '../core/turns/due.ts';
import { createGit } from '../git/git.ts';
import {
  acceptFiles,
  type ChangedFile,
  type CodeDigests,
  findChangedFiles,
  type PinnedCode,
  type PinnedWorkflow,
} from '../language/pinned-code.ts';
import type { Environment } from '../process/command.ts';
import { foldersAround } from '../turns/claude/start-checks.ts';
import { ChangedCodeError } from '../turns/signals.ts';
import { digestOf, type FileRule, isProgram, ProgramFiles } from '../workflow/program-files.ts';
import { resolveLinks } from '../workflow/workflow-spec.ts';

/** The entry of a run's pinned code that holds what Claude Code starts programs from; no path of a workflow has this name. */
const CLAUDE_SETTINGS = '//claude';

/** The code of a run together with what Claude Code starts programs from. */
export const withSettings = (code: PinnedCode, settings: PinnedWorkflow): PinnedCode => ({
  ...code,
  workflows: { ...code.workflows, [CLAUDE_SETTINGS]: settings },
});

/** True if a run has pinned what Claude Code starts programs from: those of older versions have not. */
export const hasSettings = ({ workflows }: PinnedCode): boolean => Object.hasOwn(workflows, CLAUDE_SETTINGS);

/** Files of plugins in which hooks, servers and permissions are named. */
const PLUGIN_FILES: ReadonlySet<string> = new Set(
  '.mcp.json .lsp.json hooks.json plugin.json marketplace.json settings.json'.split(' '),
);

/** The files, in a folder and in each one around it, from which both tested versions of Claude Code start programs. */
const SETTINGS_RULE: FileRule = {
  start: {
    files: ['.mcp.json', '.claude/settings.json', '.claude/settings.local.json'],
    folders: ['agents', 'commands', 'hooks', 'plugins', 'skills', 'workflows'].map((name) => `.claude/${name}`),
  },
  counts: (name) => name.endsWith('.md') || isSettingsFile(name) || isProgram(name),
};

const isSettingsFile = (name: string): boolean => PLUGIN_FILES.has(name) || name === 'settings.local.json';

/** Time stamps of files are up to this much behind the clock. */
const STAMP_LAG_MS = 20;

/** The run whose settings are compared. */
export interface SettingsRun {
  readonly id: string;
  readonly startFolder: string | null;
  readonly startedAt: number;
}

/** A file from which Claude Code starts programs. */
interface FoundFile extends ChangedFile {
  readonly folder: string;
  /** Its path in that folder. */
  readonly tail: string;
}

/**
 * Compares the files from which Claude Code starts programs with those that were there when the run began. A file counts as known
 * 1. if its content is pinned, for it or for the same file of another folder, such as the one that a worktree is a copy of,
 * 2. if the commit that the run began with holds it, as in worktrees and clones,
 * 3. in a folder that was not looked at when the run began, or on a node: if it has not changed since then.
 */
export class SettingsGuard {
  private readonly run: SettingsRun;
  private readonly env: Environment;
  private readonly root: string;
  private readonly pinnedFolders: ReadonlySet<string>;
  private readonly seen = new Map<string, ProgramFiles>();
  private firstCommit: Promise<string | null> | undefined;

  constructor(run: SettingsRun, env: Environment, isNode = false) {
    this.run = run;
    this.env = env;
    this.root = resolveLinks(run.startFolder ?? sep);
    this.pinnedFolders = new Set(isNode || run.startFolder === null ? [] : foldersAround(this.root));
  }

  /** Pins the files around the folder that the run starts in, and around others. */
  pin(folders: readonly string[] = []): PinnedWorkflow {
    const found = [this.root, ...folders].flatMap((folder) => this.readAround(folder));
    return { files: Object.fromEntries(found.map(({ file, digest }) => [file, digest])), hasHelpers: false };
  }

  /** Throws ChangedCodeError if Claude Code would start programs from a file that has changed since the run began. */
  async check({ state, cwd, code, clone }: Pick<PromptTurn, 'state' | 'cwd' | 'code' | 'clone'>): Promise<void> {
    const pinned = code?.workflows[CLAUDE_SETTINGS];
    if (pinned === undefined) return;
    const changed: FoundFile[] = [];
    for (const found of this.readAround(cwd))
      if (!(await this.isKnown(found, pinned.files, clone ?? null))) changed.push(found);
    if (changed.length === 0) return;
    const message = `${state}: ${describe(changed, pinned.files)}; check it, then \`raymond resume ${this.run.id}\` accepts it`;
    throw new ChangedCodeError(
      message,
      changed.map(({ workflow, file, digest }) => ({ workflow, file, digest })),
    );
  }

  /**
   * The code of the run once a person has accepted what has changed, and the files that were: those that a paused agent has told
   * of, perhaps from another node, and those around these folders that changed after the run had ended.
   */
  accept(
    code: PinnedCode,
    told: readonly ChangedFile[],
    endedAtMs: number,
    folders: readonly string[],
  ): { readonly code: PinnedCode; readonly accepted: readonly string[] } {
    const pinned = code.workflows[CLAUDE_SETTINGS]?.files ?? {};
    const later = [this.root, ...folders].flatMap((folder) =>
      this.readAround(folder).filter((found) => changedAtMs(found) > endedAtMs),
    );
    const files = [...told.filter(({ workflow }) => workflow === CLAUDE_SETTINGS), ...later];
    // A change that a pause reported counts as it is now.
    const digests = Object.fromEntries(files.map(({ file, digest }) => [file, digest]));
    const changed = findChangedFiles(CLAUDE_SETTINGS, pinned, digests);
    return { code: acceptFiles(code, changed), accepted: changed.map(({ file }) => resolve(this.root, file)) };
  }

  private async isKnown(found: FoundFile, pinned: CodeDigests, clone: PromptTurn['clone'] | null): Promise<boolean> {
    if (pinned[found.file] === found.digest || isPinnedElsewhere(found, pinned)) return true;
    if (!this.pinnedFolders.has(found.folder) && changedAtMs(found) < this.run.startedAt - STAMP_LAG_MS) return true;
    const top = foldersAround(found.folder).find((folder) => existsSync(join(folder, '.git')));
    const commit = clone == null ? await this.findFirstCommit() : clone.base;
    if (commit === null || top === undefined) return false;
    const path = relative(top, join(found.folder, found.tail)).split(sep).join('/');
    const { ok, out } = await this.git(clone?.path ?? this.root)('cat-file', 'blob', `${commit}:${path}`);
    // The last line break of an output is left out.
    return ok && (digestOf(`${out}\n`) === found.digest || digestOf(out) === found.digest);
  }

  /** The commit that the folder of the run was at when the run began. */
  private findFirstCommit(): Promise<string | null> {
    this.firstCommit ??= this.readFirstCommit();
    return this.firstCommit;
  }

  private async readFirstCommit(): Promise<string | null> {
    const startedAt = new Date(Math.ceil(this.run.startedAt / 1000) * 1000).toISOString();
    const { ok, out, error } = await this.git(this.root)('rev-parse', '--verify', `HEAD@{${startedAt}}`);
    return ok && !error.includes('only goes back') ? out : null;
  }

  /** Only the repository of the run itself is asked, and it fetches nothing: a folder below may be a repository of an agent. */
  private git(folder: string): ReturnType<typeof createGit> {
    return createGit(folder, { env: { ...this.env, GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' } });
  }

  private readAround(cwd: string): readonly FoundFile[] {
    const own = resolveLinks(this.env.CLAUDE_CONFIG_DIR ?? join(this.env.HOME ?? homedir(), '.claude'));
    return foldersAround(resolveLinks(resolve(cwd))).flatMap((folder) =>
      Object.entries(this.read(folder)).flatMap(([name, digest]) => {
        const tail = name.slice('./'.length);
        // The settings of the user are those of all projects, and change while other sessions are open.
        if (tail.startsWith('.claude/') && join(folder, '.claude') === own) return [];
        const file = relative(this.root, join(folder, tail)).split(sep).join('/');
        return [{ workflow: CLAUDE_SETTINGS, file, digest, folder, tail }];
      }),
    );
  }

  private read(folder: string): CodeDigests {
    const files = this.seen.get(folder) ?? new ProgramFiles(folder, SETTINGS_RULE);
    this.seen.set(folder, files);
    return files.read();
  }
}

function isPinnedElsewhere({ tail, digest }: FoundFile, pinned: CodeDigests): boolean {
  return Object.entries(pinned).some(
    ([file, known]) => known === digest && (file === tail || file.endsWith(`/${tail}`)),
  );
}

/** The last change of a file, or of a link that leads to it, by a time that no program can set. */
function changedAtMs({ folder, tail }: FoundFile): number {
  const path = join(folder, tail);
  let latest = statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? Number.POSITIVE_INFINITY;
  for (let each = path; each !== folder; each = dirname(each)) {
    const stats = lstatSync(each, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) latest = Math.max(latest, stats.ctimeMs);
  }
  return latest;
}

function describe([first, ...others]: readonly FoundFile[], pinned: CodeDigests): string {
  if (first === undefined) return '';
  const path = join(first.folder, first.tail);
  const isPinned = Object.hasOwn(pinned, first.file);
  const what = isPinned ? `${path} has changed since the run began` : `${path} is new since the run began`;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `${what}${more}, and Claude Code starts programs from it`;
}
