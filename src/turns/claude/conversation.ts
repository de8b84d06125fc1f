import { randomUUID } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { TurnRef } from '../../core/due.ts';
import type { NotStarted, ProcessCommand, ProcessExit } from '../../process/command.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { followLines, MAX_LINE_BYTES } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { type ProcessPlace, startMarked } from '../process-turn.ts';
import { type TurnContext, turnMarker } from '../turn-context.ts';
import type { ReportedCosts } from './cost.ts';
import { interruptLine } from './invocation.ts';
import { parseClaudeBytes } from './parse-event.ts';
import type { TurnClaim } from './turn-claim.ts';

/** What is fixed when a conversation is opened. */
export interface ConversationTerms {
  /** The id of the conversation. */
  readonly session: string;
  /** Everything that Claude Code was started with, but the conversation and the cap: turns that need the same can share it. */
  readonly key: string;
  /** The most that the process may cost in all its turns; null if the run has no budget. */
  readonly capMicros: number | null;
}

/** The file in the folder of a conversation that says whose it is, for a process of Raymond that finds it. */
export const CONVERSATION_FILE = 'conversation.json';

/** The content of that file. */
export const CONVERSATION_SCHEMA = z.object({
  session: z.string(),
  agent: z.string(),
  number: z.number(),
  isAhead: z.boolean().default(false),
});

/** The turn that has started a process, for itself or ahead of another one. */
export type Opener = Omit<TurnRef, 'state'> & { readonly isAhead: boolean };

/** The place of the process that a turn has started. One that was started ahead must not be ended together with that turn. */
export function conversationPlace(context: TurnContext, { agent, number, isAhead }: Opener): ProcessPlace {
  const [dir, marker] = [
    context.conversationFolder({ agent, number }),
    turnMarker(context, { agent, number, state: '' }),
  ];
  return isAhead ? { dir: `${dir}.ahead`, marker: `${marker}/ahead` } : { dir, marker };
}

/** The place of the process that takes this turn of an agent, by its claim. */
export const claimedPlace = (context: TurnContext, agent: string, { opener, ahead }: TurnClaim): ProcessPlace =>
  conversationPlace(context, { agent: ahead ?? agent, number: opener, isAhead: ahead !== undefined });

/** Events that only come in answer to a prompt. */
const ANSWERING: ReadonlySet<string> = new Set(['init', 'assistant', 'result']);

const TURN_OVER: ProcessExit = { kind: 'exited', code: 0 };

/**
 * A process of Claude Code that takes one prompt after the other, all in one conversation. Only this process holds the write end
 * of its stdin, so that it ends with us: after the turn that it is at, or at once.
 */
export class Conversation {
  readonly terms: ConversationTerms;
  readonly opener: TurnRef;
  /** Whether it was started ahead of the turn that its first prompt belongs to. */
  readonly isAhead: boolean;
  readonly place: ProcessPlace;
  /** The turn that it has taken last. */
  lastTurn: TurnRef;
  /** What it has reported up to the end of that turn. */
  reported: ReportedCosts | null = null;
  spentMicros = 0;
  /** Whether its last turn was interrupted. */
  wasInterrupted = false;
  /** Whether a prompt was sent to it, or is about to be. */
  isUsed: boolean;
  /** Whether its process has ended. */
  hasEnded = false;
  /** Called when it ends between two turns. */
  onIdleEnd: (exit: ProcessExit) => void = () => {};
  /** Why it cannot be used any more, in words; null if it can. */
  flaw: string | null = null;
  private readonly context: TurnContext;
  private stdin: Writable | null = null;
  private ended: Promise<ProcessExit> = Promise.resolve(TURN_OVER);
  private onLine: ((line: Buffer) => boolean) | null = null;
  private onTurnOver: (exit: ProcessExit) => void = () => {};
  private bytesRead = 0;
  /** The id of an interruption that it has not acknowledged. */
  private interruptId: string | null = null;

  constructor(context: TurnContext, opener: TurnRef, terms: ConversationTerms, isAhead = false) {
    this.context = context;
    this.opener = opener;
    this.terms = terms;
    this.lastTurn = opener;
    this.isAhead = isAhead;
    this.isUsed = !isAhead;
    const { agent, number } = opener;
    this.place = conversationPlace(context, { agent, number, isAhead });
    mkdirSync(this.place.dir, { recursive: true, mode: 0o700 });
    const content: z.infer<typeof CONVERSATION_SCHEMA> = { session: terms.session, agent, number, isAhead };
    writeFileSync(join(this.place.dir, CONVERSATION_FILE), JSON.stringify(content), { mode: 0o600 });
  }

  /** Where a turn is to be looked for that begins in it now. */
  claimFor(uuid: string): TurnClaim {
    const { agent, number } = this.opener;
    return { opener: number, ...(this.isAhead && { ahead: agent }), ...this.outputAt, uuid };
  }

  /** Whether its process was started for this turn. */
  isOpenedBy({ agent, number }: TurnRef): boolean {
    return !this.isAhead && this.opener.agent === agent && this.opener.number === number;
  }

  /** Where the output of the next turn begins. */
  get outputAt(): { readonly stdout: number; readonly stderr: number } {
    const { stderr } = turnFiles(this.place.dir);
    return { stdout: this.bytesRead, stderr: statSync(stderr, { throwIfNoEntry: false })?.size ?? 0 };
  }

  /** What is left of its cap; null if it has none. */
  get restMicros(): number | null {
    const { capMicros } = this.terms;
    return capMicros === null ? null : capMicros - this.spentMicros;
  }

  /** Starts the process. */
  async start(command: ProcessCommand): Promise<NotStarted | null> {
    const started = await startMarked(this.context, this.place, { ...command, input: 'pipe' });
    if (started.kind === 'not_started') return started;
    this.stdin = started.stdin;
    const { stdout } = turnFiles(this.place.dir);
    const read = followLines(stdout, (line) => this.receive(line), { until: started.exited });
    this.ended = read.then(() => started.exited);
    this.ended.then(
      (exit) => this.finish(exit),
      () => this.finish({ kind: 'died' }),
    );
    return null;
  }

  /** Sends a prompt as a line. `onLine` gets what comes and says when the turn is over; the end of the process ends it, too. */
  ask(turn: TurnRef, line: string, onLine: (line: Buffer) => boolean): Promise<ProcessExit> {
    this.lastTurn = turn;
    this.isUsed = true;
    this.wasInterrupted = false;
    const over = new Promise<ProcessExit>((resolve) => {
      this.onTurnOver = resolve;
    });
    if (this.hasEnded) this.ended.then(this.onTurnOver, () => this.onTurnOver({ kind: 'died' }));
    this.onLine = onLine;
    this.stdin?.write(`${line}\n`);
    return over;
  }

  /** Sends one more line into the turn that it is at. False if it is at none. */
  write(line: string): boolean {
    if (this.onLine === null || this.stdin === null || !this.stdin.writable) return false;
    this.stdin.write(`${line}\n`);
    return true;
  }

  /** Tells it to end the turn that it is at. False if it is at none. It can go on once it has acknowledged that. */
  interrupt(): boolean {
    const id = randomUUID();
    if (!this.write(interruptLine(id))) return false;
    this.interruptId = id;
    this.wasInterrupted = true;
    return true;
  }

  /** Whether it might still end a turn because of an interruption. */
  get isInterrupting(): boolean {
    return this.interruptId !== null;
  }

  /** Lets it finish what it is at, without waiting for that. */
  hangUp(): void {
    this.stdin?.end();
  }

  /** Closes it: its process ends, by itself or after a while by force. */
  async close(): Promise<void> {
    this.onIdleEnd = () => {};
    this.hangUp();
    const exited = this.ended.then(
      () => true,
      () => false,
    );
    const isOver = await Promise.race([exited, delay(END_GRACE_MS, false, { ref: false })]);
    if (!isOver) await endTurn(this.place.dir, this.place.marker, { graceMs: END_GRACE_MS });
  }

  private receive(line: Buffer): void {
    this.bytesRead += line.length + 1;
    // Of a line that is too long only the beginning is here, so that its end is not known.
    if (line.length >= MAX_LINE_BYTES) this.flaw ??= 'a line of its output is too long';
    if (this.interruptId !== null && line.includes(this.interruptId)) this.interruptId = null;
    if (this.onLine === null) {
      if (ANSWERING.has(parseClaudeBytes(line).kind)) this.flaw ??= 'it has gone on by itself after its answer';
    } else if (this.onLine(line)) {
      this.onLine = null;
      this.onTurnOver(TURN_OVER);
    }
  }

  private finish(exit: ProcessExit): void {
    this.hasEnded = true;
    this.flaw ??= 'it has ended';
    const isIdle = this.onLine === null;
    this.onLine = null;
    if (isIdle) this.onIdleEnd(exit);
    else this.onTurnOver(exit);
  }
}
