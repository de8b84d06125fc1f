import { closeSync, mkdirSync, openSync, readdirSync, readSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../json-file.ts';
import type { ProcessRef } from '../process/command.ts';
import { turnMarker } from '../process/marker.ts';
import { recordedExit, turnFiles } from '../process/turn-files.ts';

/*
 * The files by which a later process of Raymond finds conversations and their turns. Their form is that of the first version that
 * had open conversations: a process that is started early is called `ahead` in them.
 */

/** The folders and the marker on which the names of processes depend. */
export interface ConversationFolders {
  readonly runMarker: string;
  /** The folder of all conversations that stay open. */
  readonly conversationsFolder: string;
  /** The folder of the one that a turn opens. Nothing is made. */
  conversationFolder(opener: TurnName): string;
}

interface TurnName {
  readonly agent: string;
  readonly number: number;
}

/** The turn that has started a process, for itself or early for another one. */
export interface Opener extends TurnName {
  readonly isEarly: boolean;
}

type RefFolders = Pick<ConversationFolders, 'conversationFolder' | 'runMarker'>;

/** The process that a turn has started. One that was started early must not be ended together with that turn. */
export function conversationRef(folders: RefFolders, { isEarly, ...opener }: Opener): ProcessRef {
  const [dir, marker] = [folders.conversationFolder(opener), turnMarker(folders, opener)];
  return isEarly ? { dir: `${dir}.ahead`, marker: `${marker}/ahead` } : { dir, marker };
}

const TURN_LOCATOR_SCHEMA = z.object({
  /** The number of the agent's turn that has opened the conversation. */
  opener: z.number(),
  /** The agent during whose turn of that number the process was started early; left out if the turn itself has started it. */
  ahead: z.string().optional(),
  /** The bytes of the conversation's output at which the turn begins. */
  stdout: z.number(),
  stderr: z.number(),
  /** The id of its prompt. */
  uuid: z.string(),
});

/**
 * Says where a turn in a conversation is found. It is in the turn's folder in place of the record of a wrapper, before the prompt
 * is sent: a turn without it has not begun.
 */
export type TurnLocator = z.infer<typeof TURN_LOCATOR_SCHEMA>;

/** The bytes that a process has written up to now. */
export type OutputPosition = Pick<TurnLocator, 'stdout' | 'stderr'>;

/** Locates a turn that begins now in the process of this opener. */
export const locateTurn = (
  { agent, number, isEarly }: Opener,
  { stdout, stderr }: OutputPosition,
  uuid: string,
): TurnLocator => ({ opener: number, ...(isEarly && { ahead: agent }), stdout, stderr, uuid });

/** Writes the locator of a turn that is about to begin. */
export function writeTurnLocator(dir: string, locator: TurnLocator): void {
  writeFileSync(turnFiles(dir).started, `${JSON.stringify(locator)}\n`, { flag: 'wx', mode: 0o600 });
}

/** Reads the locator of a turn; null if it has a process of its own, or has not begun. */
export function readTurnLocator(dir: string): TurnLocator | null {
  const found = readJsonFile(turnFiles(dir).started, TURN_LOCATOR_SCHEMA);
  return found.kind === 'data' ? found.data : null;
}

/** The process that takes this turn of an agent. */
export const locatedRef = (folders: RefFolders, agent: string, { opener, ahead }: TurnLocator): ProcessRef =>
  conversationRef(folders, { agent: ahead ?? agent, number: opener, isEarly: ahead !== undefined });

/** Copies a turn's part of a conversation's output to the turn's own folder, where logs and recordings look for it. */
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

/** The file in the folder of a conversation that says whose it is. */
const CONVERSATION_FILE = 'conversation.json';

const CONVERSATION_SCHEMA = z.object({
  /** Null where the backend chooses the session: it is not known before the process runs. */
  session: z.string().nullable(),
  agent: z.string(),
  number: z.number(),
  isAhead: z.boolean().default(false),
});

/** Makes the folder of a conversation and says in it whose it is; throws if that is not possible. */
export function recordConversation(dir: string, { agent, number, isEarly }: Opener, session: string | null): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const content: z.infer<typeof CONVERSATION_SCHEMA> = { session, agent, number, isAhead: isEarly };
  writeFileSync(join(dir, CONVERSATION_FILE), JSON.stringify(content), { mode: 0o600 });
}

/** A process of an earlier Raymond that has not ended. */
export interface Orphan {
  readonly session: string;
  readonly opener: Opener;
  readonly process: ProcessRef;
}

/** Finds the processes that earlier Raymonds of this run have left. One without a session has never had a turn that counts. */
export function findOrphans(folders: ConversationFolders): readonly Orphan[] {
  return listFolders(folders.conversationsFolder).flatMap((dir) => {
    if (recordedExit(dir) !== undefined) return [];
    const record = readJsonFile(join(dir, CONVERSATION_FILE), CONVERSATION_SCHEMA);
    if (record.kind !== 'data' || record.data.session === null) return [];
    const { session, agent, number, isAhead } = record.data;
    const opener = { agent, number, isEarly: isAhead };
    return [{ session, opener, process: conversationRef(folders, opener) }];
  });
}

function listFolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
