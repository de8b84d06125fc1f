import type { PromptTurn } from '../../core/turns/due.ts';
import { MAX_LINE_BYTES } from '../../process/lines.ts';
import { PrintReporter } from '../print-reporter.ts';
import type { TurnContext } from '../turn-context.ts';
import { createActivityReporter } from './activity.ts';
import { estimateMicros, type Prices } from './cost.ts';
import { parseClaudeBytes } from './event.ts';
import { isHopelessRetry } from './failure.ts';
import { createClaudePrintReader } from './prints.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, isTurnDone, reopenTranscript, type Transcript } from './transcript.ts';
import { readQuotaWindows } from './usage-limit.ts';

const LONG_LINE_WARNING = `Claude Code printed an event of ${MAX_LINE_BYTES / 1024 ** 2} MiB or more, which was not read: what it said in it is lost`;

/** Reads the output of one turn as it comes: for its outcome, for those who watch, and for what ends it early. */
export class TurnReading {
  transcript: Transcript = EMPTY_TRANSCRIPT;
  /** True if hooks of the user have run. */
  hasHooks = false;
  readonly prints: PrintReporter;
  private readonly context: TurnContext;
  private readonly turn: PromptTurn;
  private readonly adopted: boolean;
  private readonly reportActivity: ReturnType<typeof createActivityReporter>;
  private readonly readPrintedTexts = createClaudePrintReader();
  private readonly hopelessness = new AbortController();
  private readonly overspending = new AbortController();
  private limit: { readonly micros: number; readonly prices: Prices } | null = null;
  private hasWarnedOfLength = false;
  /** The messages written into the turn that are not echoed yet. */
  private readonly unheard = new Set<string>();
  private isGoingOn = false;

  constructor(context: TurnContext, turn: PromptTurn, adopted: boolean) {
    this.context = context;
    this.turn = turn;
    this.adopted = adopted;
    this.reportActivity = createActivityReporter(context, turn.agent);
    this.prints = new PrintReporter(context, turn, adopted);
  }

  /** Aborted when Claude Code only tries again what cannot succeed. */
  get hopeless(): AbortSignal {
    return this.hopelessness.signal;
  }

  /** Aborted when the turn has cost what `limitCost` allows. */
  get overspent(): AbortSignal {
    return this.overspending.signal;
  }

  /** True if it is over: what was written into it is part of it, and Claude Code may answer that with a result of its own. */
  get isDone(): boolean {
    return isTurnDone(this.transcript) && this.unheard.size === 0;
  }

  /** True if there is a result, but something was written that Claude Code does not take up. */
  get isStalled(): boolean {
    return isTurnDone(this.transcript) && this.unheard.size > 0 && !this.isGoingOn;
  }

  /** The ids of what was written into the turn and not been echoed. */
  get unheardIds(): readonly string[] {
    return [...this.unheard];
  }

  /** Notes that something is being written into the turn, or may have been. */
  expectEcho(id: string): void {
    this.unheard.add(id);
  }

  /** Watches what the turn costs, for a process that would go further than the turn may. */
  limitCost(micros: number, prices: Prices): void {
    this.limit = { micros, prices };
  }

  /** Takes the next line of the turn. */
  add(line: Buffer): void {
    if (line.length >= MAX_LINE_BYTES && !this.hasWarnedOfLength) {
      this.hasWarnedOfLength = true;
      this.context.warn(this.turn, LONG_LINE_WARNING);
    }
    const event = parseClaudeBytes(line);
    this.transcript = addClaudeEvent(this.transcript, event);
    if (event.kind === 'other' && event.type === 'system/hook_started') this.hasHooks = true;
    if (event.kind === 'init') this.isGoingOn = isTurnDone(this.transcript);
    if (event.kind === 'result') this.isGoingOn = false;
    if (event.kind === 'tool_results' && event.echoOf !== null) this.takeEcho(event.echoOf);
    this.reportActivity?.(event);
    this.prints.add('stdout', this.readPrintedTexts(event));
    if (event.kind === 'rate_limit') this.context.quota?.report(readQuotaWindows(event, this.reportTime()));
    if (event.kind === 'retry' && isHopelessRetry(event)) this.hopelessness.abort();
    if (event.kind === 'assistant' && this.limit !== null) this.checkLimit(this.limit);
  }

  private takeEcho(id: string): void {
    if (!this.unheard.delete(id)) return;
    this.transcript = reopenTranscript(this.transcript);
    this.context.hear(this.turn, id);
  }

  /** An adopted turn is read from its beginning: nobody knows when it said what. */
  private reportTime(): number {
    return (this.adopted ? this.turn.record?.startedAt : undefined) ?? this.context.clock.now();
  }

  private checkLimit({ micros, prices }: { readonly micros: number; readonly prices: Prices }): void {
    if (estimateMicros(this.transcript, prices) >= micros) this.overspending.abort();
  }
}
