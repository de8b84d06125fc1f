import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { TurnMessage } from '../../conversations/conversation.ts';
import type {
  Connection,
  ConnectionEvents,
  PlannedTurn,
  SendEvents,
  SendResult,
} from '../../conversations/protocol.ts';
import { type OutputPosition, TurnSlice } from '../../conversations/records.ts';
import type { NotStarted, ProcessExit, ProcessRef, StartedCommand } from '../../process/command.ts';
import { isOutputLost } from '../../process/full-disk.ts';
import { followLines, lastLines, MAX_LINE_BYTES } from '../../process/lines.ts';
import { toNotStarted } from '../../process/start.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { type ProcessEnd, startMarked, superviseProcess } from '../process-turn.ts';
import type { TurnContext } from '../turn-context.ts';
import { type Prices, type ReportedCosts, reportedCosts, saveCostBaseline } from './cost.ts';
import { parseClaudeBytes } from './event.ts';
import { escapePrompt, interruptLine, promptLine } from './invocation.ts';
import type { ClaudeOutcome } from './outcome.ts';
import { type EndedTurnProcess, findMessages, NOTHING_LEFT, type ReadTurn, wasTaken } from './recover.ts';
import type { TurnReading } from './turn-reading.ts';

/** A turn that begins in a process that stays open. */
export interface AskedTurn extends ReadTurn, PlannedTurn {
  readonly prompt: string;
  readonly prices: Prices;
}

/** Everything that is fixed when the process is started. */
interface ConnectionTerms {
  readonly configDir: string;
  readonly process: ProcessRef;
  /** True if it was started before the turn of its first prompt. */
  readonly isEarly: boolean;
  /** Called if this Claude Code does not know the options that keep it open. */
  readonly onRefused: (turn: AskedTurn['turn']) => void;
}

/** Events that only come in answer to a prompt. */
const ANSWERING: ReadonlySet<string> = new Set(['init', 'assistant', 'result']);
/** An option that Claude Code does not know, in its own words. */
const UNKNOWN_OPTION = /unknown option '?--(?:input-format|replay-user-messages)/i;
/** How long Claude Code may be silent after a result if it has not taken a message, unless its timeout is shorter. */
const STALL_MS = 10_000;
const TURN_OVER: ProcessExit = { kind: 'exited', code: 0 };

/** The warning about a process that had to be ended after its answer. */
const STALLED =
  'Claude Code did not take up what was said to it after its answer, so it was ended; the next prompt starts it again';
/** The warning about a process that has exited between two turns. */
export const ENDED_BY_ITSELF =
  'the conversation was open for the next prompt, but its process has ended; that prompt starts Claude Code again';

/** Starts Claude Code as a process that takes one prompt after the other. */
export async function connectClaude(
  context: TurnContext,
  { turn, command }: PlannedTurn,
  terms: ConnectionTerms,
  events: ConnectionEvents,
): Promise<ClaudeConnection | NotStarted> {
  const started = await startMarked(context, terms.process, { ...command, input: 'pipe' });
  return started.kind === 'not_started'
    ? started
    : new ClaudeConnection(context, terms, turn.budgetMicros, started, events);
}

/** A process of Claude Code that stays open. It ends with us: after the turn that it is at, or at once. */
class ClaudeConnection implements Connection<AskedTurn, EndedTurnProcess> {
  readonly exited: Promise<ProcessExit>;
  private readonly context: TurnContext;
  private readonly terms: ConnectionTerms;
  private readonly events: ConnectionEvents;
  private readonly stdin: Writable | null;
  /** The rest of the most that the process may cost in all its turns; null if the run has no budget. */
  private restMicros: number | null;
  /** The costs that it has reported up to the end of its last turn. */
  private reported: ReportedCosts | null = null;
  private unusableReason: string | null = null;
  private reading: TurnReading | null = null;
  private onLine: ((line: Buffer) => boolean) | null = null;
  private onTurnOver: (exit: ProcessExit) => void = () => {};
  private bytesRead = 0;
  private hasExited = false;
  private wasInterrupted = false;
  /** The id of an interruption that it has not acknowledged. */
  private interruptId: string | null = null;

  constructor(
    context: TurnContext,
    terms: ConnectionTerms,
    capMicros: number | null,
    { stdin, exited }: StartedCommand,
    events: ConnectionEvents,
  ) {
    this.context = context;
    this.terms = terms;
    this.events = events;
    this.stdin = stdin;
    this.restMicros = capMicros;
    const { stdout } = turnFiles(terms.process.dir);
    const read = followLines(stdout, (line) => this.receive(line), { until: exited });
    this.exited = read.then(() => exited);
    this.exited.then(
      (exit) => this.finish(exit),
      () => this.finish({ kind: 'died' }),
    );
  }

  get position(): OutputPosition {
    const { stderr } = turnFiles(this.terms.process.dir);
    return { stdout: this.bytesRead, stderr: statSync(stderr, { throwIfNoEntry: false })?.size ?? 0 };
  }

  fits({ turn: { budgetMicros } }: AskedTurn): boolean {
    return this.unusableReason === null && fitsCap(this.restMicros, budgetMicros);
  }

  async send(asked: AskedTurn, promptId: string, events: SendEvents): Promise<SendResult<EndedTurnProcess>> {
    const { context, terms } = this;
    const { turn, prompt, prices, reading, supervision, command } = asked;
    const folder = context.folderOf(turn);
    if (turn.budgetMicros !== null && (this.restMicros ?? 0) > turn.budgetMicros)
      reading.limitCost(turn.budgetMicros, prices);
    try {
      // For the turn that has started the process, that was done before.
      if (terms.isEarly || this.reported !== null)
        saveCostBaseline(folder, { savedUsd: null, prices, ...(this.reported && { before: this.reported }) });
    } catch (error) {
      const end = { ...toNotStarted(command, error), atMs: context.clock.now() };
      return { kind: 'missed', over: { ...NOTHING_LEFT, end } };
    }
    const isOpener = !terms.isEarly && this.reported === null;
    const slice = new TurnSlice(folder);
    const { stderr: stderrFrom } = this.position;
    let hasBegun = false;
    const over = this.ask(reading, promptLine(promptId, prompt), (line) => {
      slice.add(line);
      reading.add(line);
      if (!hasBegun && reading.transcript.opened) {
        hasBegun = true;
        // Hooks of the user say what they see when they run.
        events.onBegun(!reading.hasHooks);
      }
      return reading.isDone;
    });
    events.onSent();
    const grace = { ms: Math.min(STALL_MS, supervision.timeoutMs ?? STALL_MS), isDone: () => reading.isStalled };
    const limits = { ...supervision, grace, onRunning: () => {} };
    const end = await superviseProcess(context, turn, terms.process, over, limits);
    this.reading = null;
    slice.close(terms.process.dir, stderrFrom);
    await findMessages(context, terms.configDir, asked);
    if (end.kind !== 'ended') return { kind: 'missed', over: { ...NOTHING_LEFT, end } };
    if (await this.wasMissed(asked, promptId, end, isOpener))
      return { kind: 'missed', over: { ...NOTHING_LEFT, end: { kind: 'never_started', atMs: end.atMs } } };
    const finish = async (outcome: ClaudeOutcome): Promise<boolean> =>
      this.canContinue(asked, outcome, end.endCause === 'hung');
    return { kind: 'over', over: { end, outputLost: isOutputLost(terms.process.dir), finish } };
  }

  /** Claude Code echoes a message as soon as the model gets it. */
  steer({ id, text }: TurnMessage): boolean {
    const prompt = escapePrompt(text);
    if (prompt === null || !this.write(promptLine(id, prompt))) return false;
    this.reading?.expectEcho(id);
    return true;
  }

  interrupt(): boolean {
    // It would continue with messages that it has not taken.
    if (this.reading === null || this.reading.unheardIds.length > 0) return false;
    const id = randomUUID();
    if (!this.write(interruptLine(id))) return false;
    this.interruptId = id;
    this.wasInterrupted = true;
    return true;
  }

  hangUp(): void {
    this.stdin?.end();
  }

  /** Sends a prompt as a line. `onLine` gets the answer and says when the turn is over; the end of the process ends it, too. */
  private ask(reading: TurnReading, line: string, onLine: (line: Buffer) => boolean): Promise<ProcessExit> {
    this.wasInterrupted = false;
    this.reading = reading;
    const over = new Promise<ProcessExit>((resolve) => {
      this.onTurnOver = resolve;
    });
    if (this.hasExited) this.exited.then(this.onTurnOver, () => this.onTurnOver({ kind: 'died' }));
    this.onLine = onLine;
    this.stdin?.write(`${line}\n`);
    return over;
  }

  /** Sends one more line into the turn that it is at. False if it is at none. */
  private write(line: string): boolean {
    if (this.onLine === null || this.stdin === null || !this.stdin.writable) return false;
    this.stdin.write(`${line}\n`);
    return true;
  }

  private receive(line: Buffer): void {
    this.bytesRead += line.length + 1;
    // Of a line that is too long only the beginning is here, so that its end is not known.
    if (line.length >= MAX_LINE_BYTES) this.unusableReason ??= 'a line of its output is too long';
    if (this.interruptId !== null && line.includes(this.interruptId)) {
      this.interruptId = null;
      this.events.onAcknowledged();
    }
    if (this.onLine === null) {
      if (ANSWERING.has(parseClaudeBytes(line).kind))
        this.unusableReason ??= 'it has continued by itself after its answer';
    } else if (this.onLine(line)) {
      this.onLine = null;
      this.onTurnOver(TURN_OVER);
    }
  }

  private finish(exit: ProcessExit): void {
    this.hasExited = true;
    this.unusableReason ??= 'it has ended';
    if (this.onLine !== null) this.onTurnOver(exit);
    this.onLine = null;
  }

  /** True if the process has ended before it took the prompt: then the prompt is sent again, to a new one. */
  private async wasMissed(
    asked: AskedTurn,
    promptId: string,
    { endCause }: Extract<ProcessEnd, { kind: 'ended' }>,
    isOpener: boolean,
  ): Promise<boolean> {
    const { turn, reading } = asked;
    if (reading.isDone || endCause !== 'exited') return false;
    if (!isOpener) return !(await wasTaken(this.terms.configDir, asked, promptId));
    const stderr = await lastLines(turnFiles(this.context.folderOf(turn)).stderr, 20, 4096);
    if (!UNKNOWN_OPTION.test(stderr)) return false;
    this.terms.onRefused(turn);
    return true;
  }

  /** True if it can take the next turn: after an answer or an interruption, if nothing is odd about it. */
  private canContinue({ turn, session, reading }: AskedTurn, outcome: ClaudeOutcome, isStalled: boolean): boolean {
    const { transcript, isDone } = reading;
    const reported = reportedCosts(transcript);
    const isUsual =
      (outcome.kind === 'answered' || (this.wasInterrupted && isDone)) &&
      outcome.cost.kind === 'reported' &&
      transcript.garbage === 0 &&
      transcript.sessionId === session.id &&
      this.unusableReason === null;
    if (outcome.kind === 'answered' && this.hasExited) this.context.warn(turn, isStalled ? STALLED : ENDED_BY_ITSELF);
    if (!isUsual || reported === null) return false;
    this.reported = reported;
    if (this.restMicros !== null) this.restMicros -= outcome.cost.micros;
    return true;
  }
}

/**
 * True if the rest of a process's cap suits a turn that may cost so much: not so little that it would be cut short, and
 * not so much that the turn could cost twice as much while nobody watches it.
 */
function fitsCap(restMicros: number | null, capMicros: number | null): boolean {
  if (restMicros === null || capMicros === null) return restMicros === capMicros;
  return restMicros >= capMicros / 2 && restMicros <= capMicros * 2;
}
