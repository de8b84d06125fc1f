import { describe, expect, test } from 'vitest';
import type { Options } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { Signal } from '../../src/core/signals/signal.ts';
import type { Turn } from '../../src/core/turns/due.ts';
import { drive } from '../../src/engine/drive.ts';
import { SignalQueue } from '../../src/engine/signal-queue.ts';
import type { World } from '../../src/engine/world.ts';
import { scopeOfWorkflow, startRun, type TestWorkflow } from '../core/run-driver.ts';

/** A world without processes and disks: states answer as they are told, and everything done is written down. */
class FakeWorld implements World {
  readonly diary: string[] = [];
  readonly events: Event[] = [];
  saved: Run | undefined;
  private readonly workflow: TestWorkflow;
  private readonly answers: Record<string, (turn: Turn, visit: number) => string | Promise<string>>;
  private readonly visits = new Map<string, number>();

  constructor(
    workflow: TestWorkflow,
    answers: Record<string, (turn: Turn, visit: number) => string | Promise<string>>,
  ) {
    this.workflow = workflow;
    this.answers = answers;
  }

  prepare: World['prepare'] = async (turn) => {
    this.diary.push(`prepare ${turn.agent} ${turn.state}`);
    const rules = { policy: [], maxVisits: null };
    return { kind: 'began', at: 1, agent: turn.agent, sessionId: `${turn.agent}-${turn.number}`, rules, warnings: [] };
  };

  take: World['take'] = async (turn) => {
    if (turn.kind === 'sleep') return { kind: 'woke', at: turn.untilMs ?? 0, agent: turn.agent };
    if (turn.kind === 'workspace') throw new Error('there is no workspace here');
    this.diary.push(`start ${turn.agent} ${turn.state}`);
    const visit = (this.visits.get(turn.state) ?? 0) + 1;
    this.visits.set(turn.state, visit);
    const text = (await this.answers[turn.state]?.(turn, visit)) ?? '<result></result>';
    return {
      kind: 'answered',
      at: 2,
      agent: turn.agent,
      text,
      cost: null,
      denials: [],
      folders: {},
      scope: scopeOfWorkflow(this.workflow),
    };
  };

  end: World['end'] = (agent) => {
    this.diary.push(`end ${agent}`);
  };

  save: World['save'] = async (steps) => {
    this.diary.push(`save ${steps.length}`);
    this.saved = steps.at(-1)?.step.run;
  };

  release: World['release'] = () => {};

  deliver: World['deliver'] = () => {};

  notify: World['notify'] = (events) => {
    this.events.push(...events);
  };
}

const immediately = () => new Promise((resolve) => setImmediate(resolve));

const run = (
  workflow: TestWorkflow,
  world: World,
  options: Partial<Options> = {},
  signals = new SignalQueue<Signal>(),
) => drive(startRun(workflow, options), world, signals);

describe('drive', () => {
  const workflow = { files: ['START.md', 'A.sh', 'W.sh'] };

  test('saves before it starts, and the end of a turn together with the intent of the next', async () => {
    const world = new FakeWorld(workflow, { 'START.md': () => '<goto>A</goto>', 'A.sh': () => '<result>x</result>' });
    const end = await run(workflow, world);
    expect(end.status).toBe('completed');
    expect(world.saved).toStrictEqual(end);
    expect(world.diary).toStrictEqual([
      'prepare main START.md',
      'save 1',
      'start main START.md',
      'prepare main A.sh',
      'save 2',
      'start main A.sh',
      'save 1',
    ]);
  });

  test('runs agents in parallel: workers that wait for each other all end', async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const world = new FakeWorld(workflow, {
      'START.md': () => '<fork next="A" n="1">W</fork><fork next="A" n="2">W</fork>',
      'W.sh': async (_turn, visit) => {
        if (visit === 2) open();
        await gate;
        return '<result>met</result>';
      },
    });
    const end = await run(workflow, world);
    expect(end.agents.map(({ phase }) => phase.kind)).toStrictEqual(['ended', 'ended', 'ended']);
  });

  test('a thousand workers end, and simultaneous signals are saved together', async () => {
    const world = new FakeWorld(workflow, { 'START.md': () => '<fork next="A">W</fork>'.repeat(1000) });
    const end = await run(workflow, world);
    expect(end.agents).toHaveLength(1001);
    expect(end.status).toBe('completed');
    expect(world.diary.filter((line) => line.startsWith('save')).length).toBeLessThan(100);
  });

  describe('a turn after a join is not ended', () => {
    const endsAfterStart = (diary: readonly string[]) =>
      diary.slice(diary.indexOf('start main A.sh')).filter((line) => line === 'end main');

    test('if the workers were done before the join', async () => {
      const world = new FakeWorld(
        { files: ['START.md', 'JOIN.md', 'A.sh', 'W.sh'] },
        {
          'START.md': () => '<fork>W</fork><goto>JOIN</goto>',
          'JOIN.md': async () => {
            while (!world.events.some(({ kind }) => kind === 'agent_ended')) await immediately();
            return '<join>A</join>';
          },
        },
      );
      expect((await run({ files: ['START.md', 'JOIN.md', 'A.sh', 'W.sh'] }, world)).status).toBe('completed');
      expect(endsAfterStart(world.diary)).toStrictEqual([]);
    });

    test('if the join waited with a time limit', async () => {
      const world = new FakeWorld(workflow, {
        'START.md': () => '<fork>W</fork><join timeout="60" timeout_next="A">A</join>',
        'W.sh': async () => {
          while (!world.events.some(({ kind }) => kind === 'joining')) await immediately();
          return '<result>late</result>';
        },
      });
      const take = world.take;
      world.take = (turn) => (turn.kind === 'sleep' ? new Promise(() => {}) : take(turn));
      expect((await run(workflow, world)).status).toBe('completed');
      expect(world.diary).toContain('end main');
      expect(endsAfterStart(world.diary)).toStrictEqual([]);
    });
  });

  test('a stop lets running turns finish and starts nothing new', async () => {
    const signals = new SignalQueue<Signal>();
    const world = new FakeWorld(workflow, {
      'START.md': () => {
        signals.put({ kind: 'stopped', at: 5, by: 'interrupted' });
        return '<goto>A</goto>';
      },
    });
    const end = await run(workflow, world, {}, signals);
    expect(end.status).toBe('interrupted');
    expect(world.diary).not.toContain('start main A.sh');
    expect(end.agents[0]?.state).toBe('A.sh');
  });

  test('a dropped sleep does not keep a stopped run alive', async () => {
    const signals = new SignalQueue<Signal>();
    const world = new FakeWorld(workflow, {});
    world.take = async (turn) => {
      if (turn.kind === 'sleep') {
        signals.put({ kind: 'stopped', at: 9, by: 'stopped' });
        return null;
      }
      const failure = { kind: 'transient', message: 'overloaded' } as const;
      return { kind: 'failed', at: 2, agent: turn.agent, failure, cost: null, progress: 'none', jitter: 0 };
    };
    expect((await run(workflow, world, {}, signals)).status).toBe('paused');
  });

  test('a limit does not wait for the time of a join', async () => {
    const world = new FakeWorld(workflow, {
      'START.md': () => '<fork>A</fork><join timeout="24h" timeout_next="START">START</join>',
      'A.sh': () => '<goto>A</goto>',
    });
    const { take } = world;
    const sleeps: ((signal: null) => void)[] = [];
    world.take = (turn) => (turn.kind === 'sleep' ? new Promise((resolve) => sleeps.push(resolve)) : take(turn));
    world.end = () => {
      for (const end of sleeps) end(null);
    };
    const end = await run(workflow, world, { maxIterations: 2 });
    expect([end.status, world.events.at(-1)?.kind]).toStrictEqual(['iteration_limit', 'run_ended']);
    expect(sleeps).toHaveLength(1);
  });

  test('adopts turns that were running when it was killed', async () => {
    const first = new FakeWorld(workflow, { 'START.md': () => new Promise<string>(() => {}) });
    void run(workflow, first);
    while (first.saved === undefined) await immediately();
    const second = new FakeWorld(workflow, { 'START.md': () => '<result>found</result>' });
    const end = await drive(first.saved, second, new SignalQueue());
    expect(end.agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'found' });
    expect(second.diary).toStrictEqual(['start main START.md', 'save 1']);
  });

  test('fails when saving fails, and starts nothing', async () => {
    const world = new FakeWorld(workflow, {});
    world.save = async () => {
      throw new Error('disk full');
    };
    await expect(run(workflow, world)).rejects.toThrow('disk full');
    expect(world.diary).toStrictEqual(['prepare main START.md']);
  });

  test('a bug in the world is not swallowed', async () => {
    const world = new FakeWorld(workflow, {});
    world.take = async () => {
      throw new Error('bug');
    };
    await expect(run(workflow, world)).rejects.toThrow('bug');
  });
});
