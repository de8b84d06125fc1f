import { recordedTurn, turnFileOf } from '../core/run/agent.ts';
import type { Event, Printed } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { type TurnRef, turnRefOf } from '../core/turns/due.ts';
import { isPrompt } from '../language/state-names.ts';
import { SYSTEM_CLOCK } from '../process/clock.ts';
import { splitChunks } from '../process/lines.ts';
import { MAX_LIVE_TURNS } from '../storage/postgres/live-rows.ts';
import type { DatabaseOutput } from '../storage/postgres/output.ts';
import type { OutputChunk, TurnStream } from '../storage/storage.ts';
import { createActivityReporter } from '../turns/claude/activity.ts';
import { parseClaudeBytes } from '../turns/claude/parse-event.ts';
import { createClaudePrintReader } from '../turns/claude/prints.ts';
import { PrintReporter } from '../turns/print-reporter.ts';
import { reportScriptOutput } from '../turns/script-output.ts';
import type { RunEnvironment } from '../wiring/run-handle.ts';

/** Those who want to know what turns do as they run. */
export type TurnObservers = Pick<RunEnvironment, 'watch' | 'watchRetries' | 'watchPrints'>;

/** How many turns are told of that were over before a look: where there are more, nobody reads along. */
const MAX_TOLD_AT_END = 20;

interface WatchedTurn {
  /** Lets what is still to be told be told. */
  readonly end: () => void;
  readonly told: Promise<void>;
}

/** Tells what the turns of a run do that workers take, in the way of the process that takes them. */
export class TurnWatcher {
  private readonly run: string;
  private readonly observers: TurnObservers;
  private readonly output: DatabaseOutput;
  /** The turns that run, and those of them that are watched, by agent. */
  private readonly running = new Map<string, TurnRef>();
  private readonly watched = new Map<string, WatchedTurn>();
  /** The turns that ran at the last look. */
  private seen: ReadonlySet<TurnRef> = new Set();
  /** How many turns were told of at their end, since the last look. */
  private toldAtEnd = 0;
  /** The texts that were shown before the journal had them, by agent and number of the turn. */
  private readonly shown = new Map<string, string[]>();

  constructor(output: DatabaseOutput, { id, agents }: Run, observers: TurnObservers) {
    this.run = id;
    this.observers = observers;
    this.output = output;
    for (const agent of agents) {
      const turn = recordedTurn(agent.phase);
      if (turn !== null) this.running.set(agent.id, { agent: agent.id, number: turn.number, state: turnFileOf(agent) });
    }
  }

  /** Takes note of the events of a step, before anybody else gets them. */
  async observe(events: readonly Event[]): Promise<void> {
    if (!this.isWanted) return;
    for (const event of events) {
      if (event.kind === 'turn_started') this.running.set(event.agent, turnRefOf(event));
      if (event.kind === 'turn_ended') await this.finish(turnRefOf(event));
    }
  }

  /** Shows a text of the journal, unless that was done while its turn ran. */
  showPrint(printed: Printed): void {
    const texts = this.shown.get(keyOf(printed)) ?? [];
    const index = texts.indexOf(printed.text);
    if (index === -1) this.observers.watchPrints?.(printed);
    else if (texts.length === 1) this.shown.delete(keyOf(printed));
    else texts.splice(index, 1);
  }

  /** Tells what the running turns have done since. */
  async look(): Promise<void> {
    if (!this.isWanted) return;
    this.toldAtEnd = 0;
    for (const [agent, turn] of this.running)
      if (this.seen.has(turn) && !this.watched.has(agent) && this.watched.size < MAX_LIVE_TURNS)
        this.watched.set(agent, this.begin(turn));
    // Most scripts are over by the next look: nothing is spent on them.
    this.seen = new Set(this.running.values());
    await this.output.watch(this.run);
  }

  close(): void {
    for (const { end } of this.watched.values()) end();
  }

  private get isWanted(): boolean {
    const { watch, watchRetries, watchPrints } = this.observers;
    return (watch ?? watchRetries ?? watchPrints) !== undefined;
  }

  private async finish(turn: TurnRef): Promise<void> {
    this.running.delete(turn.agent);
    const watched = this.watched.get(turn.agent) ?? this.beginAtEnd(turn);
    this.watched.delete(turn.agent);
    if (watched === null) return;
    watched.end();
    await watched.told;
  }

  /** Tells of a turn that was over before a look, to who wants to know everything. */
  private beginAtEnd(turn: TurnRef): WatchedTurn | null {
    if (this.observers.watch === undefined || this.toldAtEnd >= MAX_TOLD_AT_END) return null;
    this.toldAtEnd += 1;
    return this.begin(turn);
  }

  private begin(turn: TurnRef): WatchedTurn {
    let end = (): void => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    // Unreadable output is not shown.
    return { end, told: this.tell(turn, over).catch(() => {}) };
  }

  private async tell(turn: TurnRef, over: Promise<void>): Promise<void> {
    const { watch: onActivity, watchRetries: onRetry, watchPrints } = this.observers;
    const onPrint = (printed: Printed): void => {
      this.shown.set(keyOf(printed), [...(this.shown.get(keyOf(printed)) ?? []), printed.text]);
      watchPrints?.(printed);
    };
    const context = {
      clock: SYSTEM_CLOCK,
      onActivity,
      onRetry,
      onPrint: watchPrints && onPrint,
    };
    const prints = new PrintReporter(context, turn, false);
    const follow = (stream: TurnStream): AsyncIterable<OutputChunk> => this.output.read(this.run, turn, stream, over);
    if (!isPrompt(turn.state)) return reportScriptOutput(context, turn, prints, over, follow);
    const report = createActivityReporter(context, turn.agent);
    const readPrintedTexts = createClaudePrintReader();
    for await (const line of splitChunks(follow('stdout'))) {
      const event = parseClaudeBytes(line);
      report?.(event);
      prints.add('stdout', readPrintedTexts(event));
    }
  }
}

const keyOf = ({ agent, turn }: Printed): string => `${agent}/${turn}`;
