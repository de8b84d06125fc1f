import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Command, commandsOf } from '../../src/core/command.ts';
import { recordedTurn } from '../../src/core/run/agent.ts';
import type { Event, Step } from '../../src/core/run/event.ts';
import { getAgent, type Run } from '../../src/core/run/run.ts';
import type { Signal } from '../../src/core/signals/signal.ts';
import { endedTurnsOf, type TurnRef } from '../../src/core/turns/due.ts';
import { drive } from '../../src/engine/drive.ts';
import { SignalQueue } from '../../src/engine/signal-queue.ts';
import type { World } from '../../src/engine/world.ts';
import { scopeOfWorkflow, startRun } from '../core/run-driver.ts';

/** How a turn goes: what a person asks for when it begins, how long it takes, and what it answers. */
interface Beat {
  readonly request: 'message' | 'interrupt' | null;
  readonly ticks: number;
  readonly text: string;
}

/** The process dies in the save of this number, before or after its steps are on disk. */
interface Crash {
  readonly save: number;
  readonly isSaved: boolean;
}

const WORKFLOW = { files: ['START.md', 'A.md', 'W.md'] };

const RESULT: Beat = { request: null, ticks: 0, text: '<result>done</result>' };

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A world that checks what the loop does with each step, and when. */
class CheckingWorld implements World {
  /** The run as it would be found after a crash now, and the steps that this world has saved. */
  onDisk: Run;
  readonly savedSteps: Step[] = [];
  readonly released: TurnRef[] = [];
  readonly delivered: Command[] = [];
  readonly notified: Event[] = [];
  readonly crashed: Promise<void>;
  private die = (): void => {};
  private saves = 0;
  private readonly signals: SignalQueue<Signal>;
  private readonly beats: Iterator<Beat>;
  private readonly crash: Crash | null;

  constructor(run: Run, signals: SignalQueue<Signal>, beats: Iterator<Beat>, crash: Crash | null) {
    this.onDisk = run;
    this.signals = signals;
    this.beats = beats;
    this.crash = crash;
    this.crashed = new Promise((resolve) => {
      this.die = resolve;
    });
  }

  /** Everything that the saved steps ask for was done, once and in order. */
  expectAllDone(): void {
    expect(this.released).toStrictEqual(this.savedSteps.flatMap(endedTurnsOf));
    expect(this.delivered).toStrictEqual(this.savedSteps.flatMap(commandsOf));
    expect(this.notified).toStrictEqual(this.savedSteps.flatMap(({ events }) => events));
  }

  prepare: World['prepare'] = async ({ agent, number }) => {
    const rules = { policy: [], maxVisits: null };
    return { kind: 'began', at: 1, agent, sessionId: `${agent}-${number}`, rules, warnings: [] };
  };

  take: World['take'] = async (turn) => {
    if (turn.kind !== 'claude') throw new Error(`no ${turn.kind} is due here`);
    this.expectAllDone();
    const { agent, number } = turn;
    expect(recordedTurn(getAgent(this.onDisk, agent).phase)?.number).toBe(number);
    const { request, ticks, text } = this.beats.next().value ?? RESULT;
    if (request !== null) this.signals.put(requestOf(request, agent, `${agent}/${number}`));
    for (let passed = 0; passed < ticks; passed += 1) await tick();
    const scope = scopeOfWorkflow(WORKFLOW);
    return { kind: 'answered', at: 2, agent, text, cost: null, denials: [], folders: {}, scope };
  };

  end: World['end'] = () => {};

  save: World['save'] = async (steps) => {
    this.saves += 1;
    await tick();
    const isCrash = this.crash?.save === this.saves;
    if (!isCrash || this.crash?.isSaved) {
      for (const { step } of steps) this.savedSteps.push(step);
      this.onDisk = steps.at(-1)?.step.run ?? this.onDisk;
    }
    if (!isCrash) return;
    this.die();
    await new Promise(() => {});
  };

  release: World['release'] = (run, endedTurns) => {
    expect(run).toBe(this.onDisk);
    this.released.push(...endedTurns);
    expectPrefix(this.released, this.savedSteps.flatMap(endedTurnsOf));
  };

  deliver: World['deliver'] = (commands) => {
    this.delivered.push(...commands);
    expectPrefix(this.delivered, this.savedSteps.flatMap(commandsOf));
  };

  notify: World['notify'] = (events) => {
    this.notified.push(...events);
    expectPrefix(
      this.notified,
      this.savedSteps.flatMap(({ events: saved }) => saved),
    );
  };
}

/** Nothing is done that is not on disk, and nothing twice. */
const expectPrefix = (done: readonly unknown[], saved: readonly unknown[]): void =>
  expect(done).toStrictEqual(saved.slice(0, done.length));

function requestOf(request: 'message' | 'interrupt', agent: string, id: string): Signal {
  const asked = { at: 1, about: { agent }, text: 'Hurry up.', by: 'ann', saidAt: 1 };
  return request === 'message'
    ? { kind: 'said', ...asked, said: id, isReachable: true }
    : { kind: 'interrupt', ...asked, interrupt: id };
}

const beat: fc.Arbitrary<Beat> = fc.record({
  request: fc.constantFrom(null, 'message', 'interrupt'),
  ticks: fc.nat(3),
  text: fc.constantFrom(
    '<goto>A</goto>',
    '<reset>START</reset>',
    '<call return="A">W</call>',
    '<fork next="A">W</fork><fork next="A">W</fork>',
    '<fork>W</fork><join cancel="true" wait="any">A</join>',
    '<result>done</result>',
    'no tag',
  ),
});

const crash: fc.Arbitrary<Crash> = fc.record({ save: fc.integer({ min: 1, max: 12 }), isSaved: fc.boolean() });

test('each step is saved, then released, delivered and told, once, before the next turn begins; also across crashes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(beat, { maxLength: 12 }), fc.array(crash, { maxLength: 3 }), async (beats, crashes) => {
      const story = beats.values();
      const worlds: CheckingWorld[] = [];
      let run = startRun(WORKFLOW);
      let end: Run | null = null;
      for (const planned of [...crashes, null]) {
        const signals = new SignalQueue<Signal>();
        const world = new CheckingWorld(run, signals, story, planned);
        worlds.push(world);
        end = await Promise.race([drive(run, world, signals), world.crashed.then(() => null)]);
        run = world.onDisk;
        if (end !== null) break;
      }
      expect(end).toBe(run);
      worlds.at(-1)?.expectAllDone();
      const ids = worlds.flatMap(({ delivered }) => delivered.map(({ kind, id }) => `${kind} ${id}`));
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});
