import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

const COST_STATE = z.object({ type: z.literal('cost-state'), totalCostUSD: z.number().nonnegative() });
const MESSAGE = z.object({ type: z.enum(['user', 'assistant']) });

/** Where Claude Code keeps what it remembers. */
export function claudeConfigDir(env: Readonly<Record<string, string | undefined>>): string {
  return env.CLAUDE_CONFIG_DIR ? resolve(env.CLAUDE_CONFIG_DIR) : join(env.HOME ?? homedir(), '.claude');
}

/** The file of a conversation, or null if there is none. It may lie under another folder than the one it goes on in. */
export async function findSessionFile(configDir: string, cwd: string, sessionId: string): Promise<string | null> {
  const projects = join(configDir, 'projects');
  const name = `${sessionId}.jsonl`;
  const own = join(projects, (await realpath(cwd).catch(() => cwd)).replace(/[^a-zA-Z0-9]/g, '-'), name);
  if ((await modifiedMs(own)) !== null) return own;
  let found: { readonly file: string; readonly ms: number } | null = null;
  for (const folder of await readdir(projects).catch(() => [])) {
    const file = join(projects, folder, name);
    const ms = await modifiedMs(file);
    if (ms !== null && (found === null || ms > found.ms)) found = { file, ms };
  }
  return found?.file ?? null;
}

/** The last total that a conversation has saved, in dollars; null if it has saved none, or cannot be read. */
export async function readSavedTotalUsd(file: string): Promise<number | null> {
  const saved = await findLastLine(file, '"cost-state"', (value) => COST_STATE.safeParse(value).data);
  return saved?.totalCostUSD ?? null;
}

/** Whether a conversation can be resumed: one without a message is not found, whatever its file holds. */
export async function hasMessages(file: string): Promise<boolean> {
  return (await findLastLine(file, '"type"', (value) => MESSAGE.safeParse(value).data)) !== undefined;
}

async function modifiedMs(file: string): Promise<number | null> {
  return stat(file).then(
    (stats) => (stats.isFile() ? stats.mtimeMs : null),
    () => null,
  );
}

/** The last line with these letters in it that can be made sense of. */
async function findLastLine<T>(
  file: string,
  needle: string,
  read: (value: unknown) => T | undefined,
): Promise<T | undefined> {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return undefined;
  try {
    for await (const line of linesFromEnd(handle)) {
      const value = line.includes(needle) ? read(parseJson(line)) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

/** The lines of a file, the last first, a piece at a time: it may be very long, and what matters is at its end. */
async function* linesFromEnd(handle: FileHandle): AsyncGenerator<Buffer> {
  let end = (await handle.stat()).size;
  let pieces: Buffer[] = [];
  while (end > 0) {
    const length = Math.min(CHUNK_BYTES, end);
    end -= length;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, end);
    let rest = buffer.subarray(0, bytesRead);
    for (let at = rest.lastIndexOf(NEWLINE); at >= 0; at = rest.lastIndexOf(NEWLINE)) {
      yield Buffer.concat([rest.subarray(at + 1), ...pieces]);
      pieces = [];
      rest = rest.subarray(0, at);
    }
    pieces.unshift(rest);
  }
  yield Buffer.concat(pieces);
}

function parseJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
