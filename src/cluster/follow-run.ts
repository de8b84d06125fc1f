import { setTimeout as delay } from 'node:timers/promises';
import { recordedTurn, turnFileOf } from '../core/run/agent.ts';
import type { Event, Printed } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { type TurnRef, turnRefOf } from '../core/turns/due.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { isPrompt } from '../language/state-names.ts';
import { SYSTEM_CLOCK } from '../process/clock.ts';
import { splitChunks } from '../process/lines.ts';
import { EventStream } from '../render/event-stream.ts';
import { listAskingAgents } from '../render/questions.ts';
import { createDatabaseBlobs } from '../storage/postgres/blobs.ts';
import type { Database } from '../storage/postgres/database.ts';
import { createDatabaseInbox } from '../storage/postgres/inbox.ts';
import { readStepRows } from '../storage/postgres/journal.ts';
import { MAX_LIVE_TURNS } from '../storage/postgres/live-rows.ts';
import { createDatabaseOutput, type DatabaseOutput } from '../storage/postgres/output.ts';
import { QUEUED_TURNS } from '../storage/postgres/remote-turn-rows.ts';
import {
  DRIVER_COLUMNS,
  type DriverRow,
  describeWait,
  loadRunRows,
  WITH_DRIVER,
} from '../storage/postgres/run-rows.ts';
import type { OutputChunk, TurnStream } from '../storage/storage.ts';
import { createActivityReporter } from '../turns/claude/activity.ts';
import { parseClaudeBytes } from '../turns/claude/event.ts';
import { createClaudePrintReader } from '../turns/claude/prints.ts';
import { PrintReporter } from '../turns/print-reporter.ts';
import { reportScriptOutput } from '../turns/script-output.ts';
import { createTalk, type RunEnvironment, type RunHandle } from '../wiring/run-handle.ts';

const POLL_INTERVAL_MS = 150;

/** Where to begin to follow a run: with these steps of its journal, and until this generation of it has ended. */
interface FollowStart {
  readonly initial: Run;
  readonly fromSeq: number;
  readonly generation: number;
}

/**
 * A handle for a run that a worker drives: its events come from the database. To stop it means to stop following: the run continues.
 * While the database cannot be reached, it is waited for.
 */
export function followDatabaseRun(
  database: Database,
  { initial, fromSeq, generation }: FollowStart,
  { env = process.env, observe, watchQueued, ...observers }: RunEnvironment,
): RunHandle {
  const { id } = initial;
  const stream = new EventStream();
  const detaching = new AbortController();
  const notify = (event: Event): void => {
    stream.push([event]);
    try {
      observe?.(event);
    } catch {}
    try {
      if (event.kind === 'printed') turns.showPrint(event);
    } catch {}
  };
  const turns = new TurnWatcher(createDatabaseOutput(database), initial, observers);
  const waits = new WaitTeller((waitsFor, at) => notify({ kind: 'run_waiting', at, waitsFor }));
  let lastQueued = '';
  const tellQueued = (queued: readonly string[]): void => {
    if (queued.join() === lastQueued) return;
    lastQueued = queued.join();
    try {
      watchQueued?.(new Set(queued));
    } catch {}
  };
  const follow = async (): Promise<Run> => {
    for (let seq = fromSeq; ; ) {
      // Read before the journal: a generation that has ended by now writes nothing more.
      const { hasEnded, waitsFor, queued } = await database.retryUntilReachable(() =>
        observeLife(database, id, generation),
      );
      seq = await database.retryUntilReachable(async () => {
        let next = seq;
        for await (const { change } of readStepRows(database, id, next - 1)) {
          next = change.seq + 1;
          seq = next;
          const { events } = change;
          await turns.observe(events);
          for (const event of events) notify(event);
        }
        return next;
      });
      if (hasEnded) return (await database.retryUntilReachable(() => loadRunRows(database, id))).run;
      waits.poll(waitsFor, database.clock.now());
      tellQueued(queued);
      await turns.poll();
      if (detaching.signal.aborted) throw detachedError(id, database.name);
      await delay(POLL_INTERVAL_MS, undefined, { signal: detaching.signal }).catch(() => {});
    }
  };
  const place = { inbox: createDatabaseInbox(database), blobs: createDatabaseBlobs(database) };
  const talk = createTalk(place, id, {
    env,
    clock: database.clock,
    async findQuestion(ask) {
      const { run } = await database.retryUntilReachable(() => loadRunRows(database, id));
      const phase = listAskingAgents(run).find((agent) => agent.phase.ask === ask)?.phase;
      const isOver = phase?.untilMs != null && phase.untilMs <= database.clock.now();
      return isOver ? undefined : phase?.question;
    },
    poll: () => {},
  });
  const finished = follow().finally(() => {
    turns.close();
    stream.end();
  });
  finished.catch(() => {});
  return {
    id,
    initial,
    damage: [],
    lateWarnings: [],
    events: stream,
    finished,
    stop: () => detaching.abort(),
    kill: () => detaching.abort(),
    ...talk,
  };
}

/** A wait that is over sooner is not worth a word. */
const TELL_AFTER_MS = 1_000;

/** Tells what keeps a run from continuing, once that lasts for a while, and when it is over. */
class WaitTeller {
  private readonly tell: (waitsFor: string | null, at: number) => void;
  private told: string | null = null;
  private seen: string | null = null;
  private since = 0;

  constructor(tell: (waitsFor: string | null, at: number) => void) {
    this.tell = tell;
  }

  poll(waitsFor: string | null, now: number): void {
    if (waitsFor !== this.seen) this.since = now;
    this.seen = waitsFor;
    if (waitsFor === this.told || (waitsFor !== null && now - this.since < TELL_AFTER_MS)) return;
    this.told = waitsFor;
    this.tell(waitsFor, now);
  }
}

/** True if a worker has begun with a generation of a run and the run is at rest now, what keeps it from continuing, and the agents whose turns are queued. */
async function observeLife(
  database: Database,
  id: string,
  generation: number,
): Promise<{ readonly hasEnded: boolean; readonly waitsFor: string | null; readonly queued: readonly string[] }> {
  const [row] = await database.query<DriverRow & { readonly ended: boolean; readonly queued: readonly string[] }>(
    `select begun >= $2 and status <> 'running' as ended, ${DRIVER_COLUMNS}, ${QUEUED_TURNS} as queued
     from raymond.runs ${WITH_DRIVER} where id = $1`,
    [id, generation],
  );
  if (row === undefined) return { hasEnded: true, waitsFor: null, queued: [] };
  const queued = row.queued.map((turn) => turn.slice(0, turn.lastIndexOf('/')));
  return { hasEnded: row.ended, waitsFor: describeWait(row), queued };
}

const detachedError = (id: string, name: string): RaymondError =>
  new RaymondError(`${id} continues in ${name}.`, {
    exitCode: EXIT.interrupted,
    hint: `To watch it: raymond logs ${id} --follow. To stop it: raymond stop ${id}.`,
  });

/** Those who want to know what turns do as they run. */
type TurnObservers = Pick<RunEnvironment, 'watch' | 'watchRetries' | 'watchPrints'>;

/** How many turns are told of that were over before a look: where there are more, nobody reads along. */
const MAX_TOLD_AT_END = 20;

interface WatchedTurn {
  /** Lets what is still to be told be told. */
  readonly end: () => void;
  readonly told: Promise<void>;
}

/** Tells what the turns of a run do that workers take, in the way of the process that takes them. */
class TurnWatcher {
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
  async poll(): Promise<void> {
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
