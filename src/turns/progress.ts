import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ClaudeTurn, ScriptTurn } from '../core/due.ts';
import { hasWildcard, matchesGlob } from '../core/glob.ts';
import { readTags } from '../core/tag.ts';
import { TAG_NAMES } from '../core/transitions/index.ts';
import { execProgram } from '../process/exec-program.ts';
import { inheritEnvironment } from './environment.ts';
import type { Environment, TurnContext } from './turn-context.ts';

/** The result of looking at what shows progress: a text that changes with it, or why there is none. */
type Look = { readonly kind: 'seen'; readonly text: string } | { readonly kind: 'unseen'; readonly why: string };

/**
 * A digest of the tags of an answer and of the files that show progress, if the turn's state asks for it. Two visits that
 * end with the same digest have not changed anything. Undefined if it cannot be computed, of which the author is told.
 */
export async function takeFingerprint(
  context: TurnContext,
  turn: ClaudeTurn | ScriptTurn,
  text: string,
): Promise<string | undefined> {
  if (turn.stuck === null) return undefined;
  const look = await lookAtFiles(context, turn.cwd, turn.stuck.files);
  if (look.kind === 'unseen') {
    context.warn(turn, `${turn.state}: \`stuck_after\` has no effect here: ${look.why}`);
    return undefined;
  }
  return createHash('sha256')
    .update(`${formatTags(text)}\n${look.text}`)
    .digest('hex');
}

/** The words around the tags differ each time that a model answers. */
function formatTags(text: string): string {
  const reading = readTags(text, TAG_NAMES);
  if (reading.kind === 'unclosed') return text;
  return JSON.stringify(
    reading.tags.map(({ name, attributes, body }) => [name, Object.entries(attributes).sort(), body]),
  );
}

async function lookAtFiles(context: TurnContext, cwd: string, patterns: readonly string[] | null): Promise<Look> {
  if (patterns !== null) return { kind: 'seen', text: await digestFiles(cwd, await findFiles(cwd, patterns)) };
  const repository = await lookAtRepository(context, cwd);
  if (repository.kind === 'seen' || !context.isSandbox) return repository;
  return { kind: 'seen', text: await digestFiles(cwd, await findFiles(cwd, ['**'])) };
}

const GIT_TIMEOUT_MS = 60_000;
/** All of the repository but what Raymond itself writes there. */
const REPOSITORY_PATHS = [':/', ':(top,exclude,glob)**/.raymond/**'];

/** Asks git for the commit, the branch and all files that differ from them or are new. */
const askGitStatus = (cwd: string, env: Environment, timeoutMs: number): ReturnType<typeof execProgram> =>
  execProgram('git', ['status', ...STATUS_OPTIONS, '--', ...REPOSITORY_PATHS], {
    cwd,
    env: { ...inheritEnvironment(env), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
    timeoutMs,
  });
const STATUS_OPTIONS = [
  '--porcelain=v2',
  '-z',
  '--branch',
  '--untracked-files=all',
  '--no-renames',
  '--no-ahead-behind',
];

/** The state of the repository of a folder as a text; empty if it is in none, null if git takes longer than this. */
export async function readGitStatus(cwd: string, env: Environment, timeoutMs: number): Promise<string | null> {
  const { timedOut, exitCode, stdout } = await askGitStatus(cwd, env, timeoutMs);
  return timedOut ? null : exitCode === 0 ? stdout : '';
}

/** The commit, the index and the content of all files that differ from them or are new. */
async function lookAtRepository({ env }: TurnContext, cwd: string): Promise<Look> {
  const [status, top] = await Promise.all([
    askGitStatus(cwd, env, GIT_TIMEOUT_MS),
    execProgram('git', ['rev-parse', '--show-toplevel'], {
      cwd,
      env: { ...inheritEnvironment(env), LC_ALL: 'C' },
      timeoutMs: GIT_TIMEOUT_MS,
    }),
  ]);
  if (status.spawnError !== null)
    return { kind: 'unseen', why: 'git cannot be started; name the files in `stuck_files`' };
  if (status.exitCode !== 0) {
    const [reason = ''] = status.stderr.trim().split('\n');
    return { kind: 'unseen', why: `git says \`${reason}\`; name the files in \`stuck_files\`` };
  }
  const records = status.stdout.split('\0').filter((record) => !/^# branch\.(?:upstream|ab)/.test(record));
  const files = records.flatMap((record) => /^(?:\? |1 (?:\S+ ){7}|u (?:\S+ ){9})(.*)$/s.exec(record)?.[1] ?? []);
  return { kind: 'seen', text: `${records.join('\n')}\n${await digestFiles(top.stdout.trim(), files)}` };
}

/** Folders that no pattern looks into unless it names them. */
const UNSEEN_FOLDERS = ['.git', '.raymond', 'node_modules'];

/** The files below a folder that fit one of the patterns; a pattern without wildcards may name a folder. */
async function findFiles(folder: string, patterns: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const names = pattern.replace(/^\.\//, '').split('/');
    const firstOpen = names.findIndex(hasWildcard);
    const start = (firstOpen === -1 ? names : names.slice(0, firstOpen)).join('/');
    for await (const file of walk(folder, start)) {
      if (firstOpen === -1 || matchesGlob(names.join('/'), file)) found.add(file);
    }
  }
  return [...found].sort();
}

async function* walk(folder: string, path: string): AsyncGenerator<string> {
  const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => null);
  if (entries === null) {
    if (path !== '') yield path;
    return;
  }
  for (const entry of entries) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    if (!entry.isDirectory()) yield inner;
    else if (!UNSEEN_FOLDERS.includes(entry.name)) yield* walk(folder, inner);
  }
}

/** The names and contents of files as one digest; a file that is not there counts as such. */
async function digestFiles(folder: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${JSON.stringify(file)} ${await digestFile(join(folder, file))}\n`);
  return hash.digest('hex');
}

async function digestFile(path: string): Promise<string> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return 'gone';
  if (stats.isSymbolicLink()) return `link ${await readlink(path).catch(() => '')}`;
  if (!stats.isFile()) return 'other';
  const hash = createHash('sha256');
  const isRead = await pipeline(createReadStream(path), hash).then(
    () => true,
    () => false,
  );
  return isRead ? `${stats.mode} ${hash.digest('hex')}` : 'unreadable';
}
