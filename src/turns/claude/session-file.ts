import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { SessionUse } from '../../core/run/agent.ts';
import type { TurnRef } from '../../core/turns/due.ts';
import { tryParseJson } from '../../language/text/json.ts';
import type { Environment } from '../../process/command.ts';
import { MAX_LINE_BYTES, readLinesBackwards } from '../../process/lines.ts';
import type { ConversationCopies, ConversationFiles } from '../turn-context.ts';

const COST_STATE = z.object({ type: z.literal('cost-state'), totalCostUSD: z.number().nonnegative() });
const MESSAGE = z.object({ type: z.enum(['user', 'assistant']) });

/** The folder in which Claude Code keeps its settings and conversations. */
export function claudeConfigDir(env: Environment): string {
  return env.CLAUDE_CONFIG_DIR ? resolve(env.CLAUDE_CONFIG_DIR) : join(env.HOME ?? homedir(), '.claude');
}

const projectsFolder = (configDir: string): string => join(configDir, 'projects');

/** The folder for conversations that are started or resumed in a working directory. */
export const projectFolder = async (configDir: string, cwd: string): Promise<string> =>
  join(projectsFolder(configDir), (await realpath(cwd).catch(() => cwd)).replace(/[^a-zA-Z0-9]/g, '-'));

/** Finds the file of a conversation; null if there is none. It may have been started in another folder than `cwd`. */
export async function findSessionFile(configDir: string, cwd: string, sessionId: string): Promise<string | null> {
  const projects = projectsFolder(configDir);
  const name = `${sessionId}.jsonl`;
  const own = join(await projectFolder(configDir, cwd), name);
  if ((await modifiedMs(own)) !== null) return own;
  let found: { readonly file: string; readonly ms: number } | null = null;
  for (const folder of await readdir(projects).catch(() => [])) {
    const file = join(projects, folder, name);
    const ms = await modifiedMs(file);
    if (ms !== null && (found === null || ms > found.ms)) found = { file, ms };
  }
  return found?.file ?? null;
}

/** Links the file of a conversation into a folder: Claude Code deletes its own after 30 days. On another disk that is not possible. */
export async function linkSession(
  { configDir, cwd }: { readonly configDir: string; readonly cwd: string },
  sessionId: string,
  folder: string,
): Promise<void> {
  const target = join(folder, `${sessionId}.jsonl`);
  if ((await modifiedMs(target)) !== null) return;
  const file = await findSessionFile(configDir, cwd, sessionId);
  if (file === null) return;
  // Not recursive: if the run's folder is gone, it must stay gone, so that the run notices.
  await mkdir(folder, { mode: 0o700 }).catch(() => {});
  await link(file, target).catch(() => {});
}

/** Reads the last total that a conversation has saved, in dollars; null if there is none, or it cannot be read. */
export async function readSavedTotalUsd(file: string): Promise<number | null> {
  const saved = await findLastLine(file, '"cost-state"', (value) => COST_STATE.safeParse(value).data);
  return saved?.totalCostUSD ?? null;
}

/** Checks that a conversation can be resumed: Claude Code does not find one without a message. */
export async function hasMessages(file: string): Promise<boolean> {
  return (await findLastLine(file, '"type"', (value) => MESSAGE.safeParse(value).data)) !== undefined;
}

/** True if a conversation on disk has a prompt with this id. */
export async function hasPrompt(file: string, uuid: string): Promise<boolean> {
  const prompt = z.union([
    z.object({ type: z.literal('user'), uuid: z.literal(uuid) }),
    // One that came while the model was at work.
    z.object({ type: z.literal('attachment'), attachment: z.object({ source_uuid: z.literal(uuid) }) }),
  ]);
  return (await findLastLine(file, uuid, (value) => prompt.safeParse(value).data)) !== undefined;
}

async function modifiedMs(file: string): Promise<number | null> {
  return stat(file).then(
    (stats) => (stats.isFile() ? stats.mtimeMs : null),
    () => null,
  );
}

/** The last line that contains `needle` and that `read` understands. */
async function findLastLine<T>(
  file: string,
  needle: string,
  read: (value: unknown) => T | undefined,
): Promise<T | undefined> {
  try {
    for await (const line of readLinesBackwards(file)) {
      const value =
        line.length < MAX_LINE_BYTES && line.includes(needle) ? read(tryParseJson(line.toString('utf8'))) : undefined;
      if (value !== undefined) return value;
    }
  } catch {}
  return undefined;
}

/*
 * Claude Code continues with a conversation on another machine if the file SESSION.jsonl lies in the folder that it has for the working
 * directory there. What sub-agents said and long outputs of tools are in a folder beside it, of the same name; the conversation has
 * all that matters of them, so they may be missing.
 */

/** Beyond this, a copy after each turn takes too long. */
const MAX_BYTES = 64 << 20;

/** Where a turn has its conversation. */
interface SessionPlace {
  readonly configDir: string;
  readonly cwd: string;
}

/** Puts the conversation that a turn continues from in its place, if another machine had it last. */
export async function bringSession(
  copies: ConversationCopies,
  { configDir, cwd }: SessionPlace,
  session: SessionUse,
): Promise<void> {
  if (session.kind === 'new') return;
  const files = await copies.fetch(session.kind === 'fork' ? session.from : session.id);
  if (files === null) return;
  const folder = await projectFolder(configDir, cwd);
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    if (relative(folder, path).startsWith('..')) continue;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const temporary = `${path}.${randomUUID()}`;
    await writeFile(temporary, content, { mode: 0o600 });
    await rename(temporary, path);
  }
}

/** Stores a copy of a conversation after a turn. */
export async function storeSession(
  copies: ConversationCopies,
  { configDir, cwd }: SessionPlace,
  turn: TurnRef,
  session: string,
): Promise<void> {
  const file = await findSessionFile(configDir, cwd, session);
  if (file !== null) await copies.store(turn, session, await readFiles(file, session));
}

/** The files of a conversation; null if it is too long. */
async function readFiles(file: string, session: string): Promise<ConversationFiles | null> {
  let left = MAX_BYTES - (await stat(file)).size;
  if (left < 0) return null;
  const files: Record<string, Buffer> = { [`${session}.jsonl`]: await readFile(file) };
  const folder = join(dirname(file), session);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const { size } = await stat(path);
    if (size > left) continue;
    left -= size;
    files[relative(dirname(file), path)] = await readFile(path);
  }
  return files;
}
