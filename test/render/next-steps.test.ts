import { describe, expect, test } from 'vitest';
import { tooManyWorkers } from '../../src/core/answers/tag-combination.ts';
import type { Agent, Phase } from '../../src/core/run/agent.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { ObservedStatus } from '../../src/core/run/observed-status.ts';
import type { Run } from '../../src/core/run/run.ts';
import { NO_TOKENS } from '../../src/core/run/tokens.ts';
import type { Question } from '../../src/language/ask.ts';
import type { FollowedTag } from '../../src/language/tags/followed-tag.ts';
import { describeNextSteps } from '../../src/render/next-steps.ts';
import { collectHistory } from '../../src/render/run-history.ts';
import { computeWorkMs } from '../../src/render/work-time.ts';
import { WORKFLOW } from '../core/random-run.ts';
import { startRun } from '../core/run-driver.ts';
import { BY_ANSWER, scriptTurnEnded } from './sample-events.ts';

const NOW = new Date(2026, 0, 15, 14, 0).getTime();
const LATER = new Date(2026, 0, 15, 15, 50).getTime();

const turn = { number: 1, prompt: { kind: 'state' }, session: null, startedAt: NOW, capMicros: null } as const;
const RUNNING: Phase = { kind: 'running', turn };
const READY: Phase = { kind: 'ready', prompt: { kind: 'state' }, since: 0 };
const SLEEPING: Phase = { kind: 'sleeping', why: 'retry', untilMs: LATER, prompt: { kind: 'state' } };

function runWith(phases: readonly Phase[], changes: Partial<Run> = {}): Run {
  const run = { ...startRun(WORKFLOW), id: 'r1' };
  const [main] = run.agents as readonly [Agent];
  const agents = phases.map((phase, at) => ({ ...main, id: at === 0 ? 'main' : `main_w${at}`, phase }));
  return { ...run, agents, ...changes };
}

test('a run says that scripts wait for other scripts', () => {
  const run = runWith([RUNNING, RUNNING, READY]);
  const scripts = run.agents.map((agent) => ({ ...agent, state: 'CHECK.sh' }));
  const describeAt = (parallelScripts: number): string => {
    const situation = { run: { ...run, agents: scripts, options: { ...run.options, parallelScripts } }, owner: null };
    return describeNextSteps({ ...situation, observedStatus: 'running' }, NOW).waitsFor.join(' ');
  };
  expect(describeAt(2)).toBe('2 turns are under way. 1 agent waits for other scripts (--parallel-scripts).');
  expect(describeAt(3)).toBe('2 turns are under way. 1 agent waits for its turn.');
});

describe('a run waits for', () => {
  test.each<[string, readonly Phase[], Partial<Run>, ObservedStatus, string]>([
    ['a turn', [RUNNING], {}, 'running', '1 turn is under way.'],
    ['turns', [RUNNING, RUNNING], {}, 'running', '2 turns are under way.'],
    ['its turn', [RUNNING, READY], {}, 'running', '1 turn is under way. 1 agent waits for its turn.'],
    ['the end of a sleep', [SLEEPING], {}, 'running', 'main sleeps until 15:50.'],
    [
      'the end of the first sleep',
      [{ ...SLEEPING, untilMs: LATER + 60_000 }, SLEEPING],
      {},
      'running',
      '2 agents sleep, the first of them until 15:50.',
    ],
    [
      'the end of a usage limit',
      [READY, SLEEPING],
      { hold: { untilMs: LATER, message: 'Limit reached.' } },
      'running',
      'Claude waits until 15:50: Limit reached.',
    ],
    [
      'turns that come to their end',
      [RUNNING, RUNNING],
      { stop: { kind: 'stopped' } },
      'stopping',
      'It is stopping: 2 turns (main in START.md, main_w1 in START.md) are finishing.',
    ],
    ['very many of them', Array(4).fill(RUNNING), {}, 'stopping', 'It is stopping: 4 turns are finishing.'],
    ['only its own end', [READY], {}, 'stopping', 'It is stopping.'],
    ['somebody to take it up', [READY], {}, 'crashed', 'Its process 7 is gone.'],
    [
      'somebody to see to its turns',
      [RUNNING, RUNNING],
      {},
      'crashed',
      'Its process 7 is gone. 2 turns were under way; a resume finds out what came of them.',
    ],
    [
      'somebody to take it up, and to see why others failed',
      [READY, { kind: 'failed', message: 'it broke' }, { kind: 'failed', message: 'it broke' }],
      {},
      'crashed',
      'Its process 7 is gone. [main_w1, main_w2] failed: it broke',
    ],
    [
      'a turn, while others have failed',
      [RUNNING, { kind: 'failed', message: 'it broke' }],
      {},
      'running',
      '1 turn is under way. [main_w1] failed: it broke',
    ],
    [
      'the user',
      [READY],
      { status: 'interrupted', stop: { kind: 'interrupted' } },
      'interrupted',
      'It was interrupted.',
    ],
    ['nothing', [], {}, 'completed', 'Every agent has ended with a result.'],
  ])('%s', (_, phases, changes, observedStatus, sentence) => {
    const owner = { state: 'gone', pid: 7, host: 'here' } as const;
    expect(describeNextSteps({ run: runWith(phases, changes), observedStatus, owner }, NOW).waitsFor.join(' ')).toBe(
      sentence,
    );
  });
});

test.each<[ObservedStatus, readonly string[]]>([
  ['running', ['raymond logs r1 --follow', 'raymond stop r1']],
  ['stopping', ['raymond stop r1 --now']],
  ['crashed', ['raymond resume r1']],
  ['elsewhere', ['raymond resume r1 --take-over']],
  ['interrupted', ['raymond resume r1']],
  ['completed', []],
])('the commands for a run that is %s', (observedStatus, commands) => {
  const outlook = describeNextSteps({ run: runWith([READY]), observedStatus, owner: null }, NOW);
  expect(outlook.commands.map(({ command }) => command)).toStrictEqual(commands);
});

test('a crashed run with failed agents has the command that tries them again', () => {
  const run = runWith([READY, { kind: 'failed', message: 'it broke' }]);
  const { commands } = describeNextSteps({ run, observedStatus: 'crashed', owner: null }, NOW);
  expect(commands.map(({ command }) => command)).toStrictEqual(['raymond resume r1', 'raymond resume r1 --retry']);
});

test.each([
  ['interrupted', 'raymond stop r1 && raymond resume r1 --retry'],
  ['billing', 'raymond stop r1 && raymond resume r1'],
] as const)('a running run with a paused agent (%s) has the command that gets it on', (why, command) => {
  const run = runWith([RUNNING, { kind: 'paused', why, message: 'it broke', prompt: { kind: 'state' } }]);
  const { commands } = describeNextSteps({ run, observedStatus: 'running', owner: null }, NOW);
  expect(commands.at(-1)).toStrictEqual({ purpose: 'To continue with what is paused', command });
});

test.each<ObservedStatus>(['running', 'crashed', 'completed', 'paused'])(
  'a run that is %s tells of failures that were joined',
  (observedStatus) => {
    const run = runWith([
      READY,
      ...Array.from({ length: 7 }, (_, at): Phase => ({ kind: 'failed', message: `no ${at % 6}` })),
    ]);
    const agents = run.agents.map((agent) => ({ ...agent, joinedBy: agent.id === 'main' ? null : 1 }));
    const { waitsFor } = describeNextSteps({ run: { ...run, agents }, observedStatus, owner: null }, NOW);
    expect(waitsFor.slice(-6)).toStrictEqual([
      'Joined all the same: [main_w1, main_w7] failed: no 0',
      ...[1, 2, 3, 4].map((at) => `Joined all the same: [main_w${at + 1}] failed: no ${at}`),
      '… and 1 more that were joined',
    ]);
  },
);

test('the history of a run has its latest transitions, and the working time of its agents across resumes', async () => {
  const { options, workflow } = startRun(WORKFLOW);
  const of = { agent: 'main', state: 'A.md' };
  const went = (at: number): Event => ({
    kind: 'transition',
    at,
    ...of,
    tag: 'goto',
    tags: [],
    ...BY_ANSWER,
    to: 'B.md',
    implicit: false,
    session: null,
    depth: 0,
    costMicros: at,
    tokens: NO_TOKENS,
    input: null,
  });
  async function* events(): AsyncGenerator<Event> {
    yield { kind: 'run_started', at: 100, run: 'r1', name: workflow.name, workflow, options };
    yield scriptTurnEnded(150, 40);
    yield went(151);
    yield went(160);
    // It was killed at 160 and resumed much later.
    yield { kind: 'run_resumed', at: 1000, options };
    yield scriptTurnEnded(1030, 25);
    yield went(1030);
  }
  const { worked, transitions, agents } = await collectHistory(events(), 2);
  expect(computeWorkMs(worked, 1040)).toBe(60 + 40);
  expect(transitions.map(({ at }) => at)).toStrictEqual([160, 1030]);
  expect([...agents]).toStrictEqual([['main', { turnsMs: 65, tokens: NO_TOKENS, startedAt: 150, lastAt: 1030 }]]);
});

test('a run whose answer starts too many workers continues with a limit that permits them', () => {
  const { message } = tooManyWorkers(2_500, 1_000);
  const phase = { kind: 'paused', why: 'unfollowable', prompt: { kind: 'state' }, answer: '' } as const;
  const run = runWith([{ ...phase, message: `START.sh: its next step cannot be taken: ${message}; …` }], {
    status: 'paused',
  });
  const { commands } = describeNextSteps({ run, observedStatus: 'paused', owner: null }, NOW);
  expect(commands).toStrictEqual([{ purpose: 'To continue', command: 'raymond resume r1 --max-forks 2500' }]);
});

describe('a question of a run that nothing drives', () => {
  const question: Question = {
    text: 'Publish it?',
    next: 'NEXT.md',
    timeoutMs: null,
    timeoutNext: 'LATE.md',
    displayFiles: [],
    uploads: null,
    choices: null,
  };
  const written = { target: null, attributes: { next: 'NEXT.md' } };
  const tag: FollowedTag = { tag: 'ask', ...written, written };
  const asking = (untilMs: number | null): Phase => {
    return { kind: 'asking', ask: 'main-1', question, askedAt: NOW, untilMs, tag, implicit: false };
  };
  const at = (now: number, untilMs: number | null, answers?: ReadonlyMap<string, string>) => {
    const run = runWith([asking(untilMs)], { status: 'waiting' });
    const situation = { run, observedStatus: 'waiting', owner: null, ...(answers && { answers }) } as const;
    const { waitsFor, commands } = describeNextSteps(situation, now);
    return [waitsFor.join(' '), ...commands.map(({ purpose, command }) => `${purpose}: ${command}`)];
  };

  test('is to be answered', () => {
    const answer = 'To answer: raymond answer r1 main-1 "TEXT" --resume';
    expect(at(NOW, null)).toStrictEqual(['[main] asks (main-1): Publish it?', answer]);
    expect(at(NOW, LATER)).toStrictEqual(['[main] asks (main-1, until 15:50, then LATE.md): Publish it?', answer]);
  });

  test('needs a resume once its time is over', () => {
    expect(at(LATER, LATER)).toStrictEqual([
      '[main] asks (main-1, its time was over at 15:50, so it continues in LATE.md): Publish it?',
      'To continue: raymond resume r1',
    ]);
  });

  test('needs a resume once somebody has answered', () => {
    expect(at(LATER, LATER, new Map([['main-1', 'ann@desk']]))).toStrictEqual([
      '[main] asks (main-1, ann@desk has answered): Publish it?',
      'To continue: raymond resume r1',
    ]);
  });
});
