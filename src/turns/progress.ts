import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { PromptTurn, ScriptTurn } from '../core/turns/due.ts';
import { readStatuses } from '../git/git-status.ts';
import { findGitPlace } from '../git-repository.ts';
import { readTags } from '../language/tags/tag.ts';
import { hasWildcard, matchesGlob } from '../language/text/glob.ts';
import { TAG_NAMES } from '../language/transitions/index.ts';
import type { Environment } from '../process/command.ts';
import type { TurnContext } from './turn-context.ts';

/** The result of looking at what shows progress: a text that changes with it, or why there is none. */
type Look = { readonly kind: 'seen'; readonly text: string } | { readonly kind: 'unseen'; readonly why: string };

/**
 * A digest of the tags of an answer and of the files that show progress, if the turn's state asks for it. Two visits that
 * end with the same digest have not changed anything. Undefined if it cannot be computed, of which the author is told.
 */
export async function takeFingerprint(
  context: TurnContext,
  turn: PromptTurn | ScriptTurn,
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

/** All of the repository but what Raymond itself writes there. */
const REPOSITORY_PATHS = [':/', ':(top,exclude,glob)**/.raymond/**'];
const STATUS_OPTIONS = [
  '--porcelain=v2',
  '-z',
  '--branch',
  '--untracked-files=all',
  '--no-renames',
  '--no-ahead-behind',
  '--',
  ...REPOSITORY_PATHS,
];
const GIT_TIMEOUT_MS = 60_000;

/** The state of the repository of a folder as a text; empty if it is in none, null if git takes longer than this. */
export async function readGitStatus(cwd: string, env: Environment, timeoutMs: number): Promise<string | null> {
  if (findGitPlace(cwd) === null) return '';
  const signal = AbortSignal.timeout(timeoutMs);
  const statuses = await readStatuses(cwd, { env, signal }, STATUS_OPTIONS);
  if (signal.aborted) return null;
  return 'problem' in statuses ? '' : statuses.map(({ out }) => out).join('\n');
}

/** The commit, the index and the content of all files that differ from them or are new. */
async function lookAtRepository({ env }: TurnContext, cwd: string): Promise<Look> {
  const signal = AbortSignal.timeout(GIT_TIMEOUT_MS);
  const statuses = await readStatuses(cwd, { env, signal }, STATUS_OPTIONS);
  if ('problem' in statuses) return { kind: 'unseen', why: `${statuses.problem}; name the files in \`stuck_files\`` };
  const texts: string[] = [];
  for (const { top, out } of statuses) {
    const records = out.split('\0').filter((record) => !/^# branch\.(?:upstream|ab)/.test(record));
    const files = records.flatMap((record) => /^(?:\? |1 (?:\S+ ){7}|u (?:\S+ ){9})(.*)$/s.exec(record)?.[1] ?? []);
    texts.push(`${records.join('\n')}\n${await digestFiles(top, files)}`);
  }
  return { kind: 'seen', text: texts.join('\n') };
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
