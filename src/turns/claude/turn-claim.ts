import { closeSync, openSync, readSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { turnFiles } from '../../process/turn-files.ts';
import { readJsonFile } from '../json-file.ts';

const TURN_CLAIM_SCHEMA = z.object({
  /** The number of the agent's turn that has opened the conversation. */
  opener: z.number(),
  /** The agent during whose turn of that number the process was started ahead; left out if the turn itself has started it. */
  ahead: z.string().optional(),
  /** The bytes of the conversation's output at which the turn begins. */
  stdout: z.number(),
  stderr: z.number(),
  /** The id of its prompt. */
  uuid: z.string(),
});

/**
 * Where a turn in a conversation that stays open is to be looked for. It stands in the turn's folder in place of the record of a
 * wrapper, before the prompt is sent: a turn without it has not begun.
 */
export type TurnClaim = z.infer<typeof TURN_CLAIM_SCHEMA>;

/** Writes the claim of a turn that is about to begin. */
export function writeTurnClaim(dir: string, claim: TurnClaim): void {
  writeFileSync(turnFiles(dir).started, `${JSON.stringify(claim)}\n`, { flag: 'wx', mode: 0o600 });
}

/** Reads the claim of a turn; null if it has a process of its own, or has not begun. */
export function readTurnClaim(dir: string): TurnClaim | null {
  const found = readJsonFile(turnFiles(dir).started, TURN_CLAIM_SCHEMA);
  return found.kind === 'data' ? found.data : null;
}

/** Copies what a turn gets of a conversation's output to the turn's own folder, where logs and recordings look for it. */
export class TurnSlice {
  private readonly dir: string;
  private stdout: number | null;

  constructor(dir: string) {
    this.dir = dir;
    this.stdout = attempt(() => openSync(turnFiles(dir).stdout, 'w', 0o600));
  }

  /** Adds a line of stdout. */
  add(line: Buffer): void {
    const { stdout } = this;
    if (stdout !== null) attempt(() => writeSync(stdout, Buffer.concat([line, NEWLINE])));
  }

  /** Adds what the conversation has written to stderr since the turn began. */
  close(conversation: string, stderrFrom: number): void {
    const { stdout } = this;
    this.stdout = null;
    if (stdout !== null) attempt(() => closeSync(stdout));
    attempt(() => {
      if ((statSync(turnFiles(conversation).stderr, { throwIfNoEntry: false })?.size ?? 0) <= stderrFrom) return;
      const stream = openSync(turnFiles(conversation).stderr, 'r');
      const buffer = Buffer.alloc(MAX_STDERR_BYTES);
      const count = readSync(stream, buffer, 0, buffer.length, stderrFrom);
      closeSync(stream);
      writeFileSync(turnFiles(this.dir).stderr, buffer.subarray(0, count), { mode: 0o600 });
    });
  }
}

const NEWLINE = Buffer.from('\n');
const MAX_STDERR_BYTES = 64 * 1024;

/** It is only a copy: a full disk must not fail the turn. */
function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
