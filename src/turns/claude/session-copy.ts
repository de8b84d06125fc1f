import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { SessionUse } from '../../core/run/agent.ts';
import type { TurnRef } from '../../core/turns/due.ts';
import type { ConversationCopies, ConversationFiles } from '../turn-context.ts';
import { findSessionFile, projectFolder } from './session-file.ts';

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
