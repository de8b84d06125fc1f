import type { Event } from '../../src/core/event.ts';
import type { FollowedTag } from '../../src/core/followed-tag.ts';
import { DEFAULT_OPTIONS } from '../../src/core/options.ts';

/** When all samples happened. */
const AT = Date.UTC(2026, 10, 16, 22, 15, 2);

const here = { at: AT, agent: 'main', state: 'START.md' } as const;
const options = { ...DEFAULT_OPTIONS, budgetMicros: 2_500_000, timeoutMs: 1_500, variables: { issue: '7' } };
const tokens = { input: 1_200, output: 340, cacheRead: 56_000, cacheWrite: 7_800 };

const calledTag: FollowedTag = {
  ...{ tag: 'call', target: 'NEXT.md', attributes: { return: 'START.md' } },
  written: { target: 'NEXT', attributes: { return: 'START' } },
};
const finishedTag = { tag: 'result', target: null, attributes: {}, written: { target: null, attributes: {} } } as const;

/** The fields of a transition that was made as its answer asked for. */
export const BY_ANSWER = {
  ...{ requested: [], sessionUse: null, cwd: '/w' },
  choice: { by: 'answer', name: null, why: null },
} as const;

/** One event of each kind, with every field filled in that can be. */
export const SAMPLE_EVENTS: { readonly [Kind in Event['kind']]: Extract<Event, { kind: Kind }> } = {
  run_started: {
    ...{ kind: 'run_started', at: AT, run: 'r1', name: 'night', options },
    workflow: { name: 'wf', path: '/wf', platform: 'unix' },
  },
  run_resumed: { kind: 'run_resumed', at: AT, options },
  run_waiting: { kind: 'run_waiting', at: AT, waitsFor: 'a worker' },
  run_stopping: { kind: 'run_stopping', at: AT, stop: { kind: 'usage_limit', untilMs: AT + 60_000, message: 'limit' } },
  run_ended: {
    ...{ kind: 'run_ended', at: AT, status: 'completed', spentMicros: 1_500_000, estimatedMicros: 250_000 },
    ...{ cannedMicros: 100_000, tokens },
  },
  agent_started: {
    ...{ ...here, kind: 'agent_started', parent: 'main', cwd: '/home', input: 'text' },
    variables: { item: 'a' },
  },
  turn_started: {
    ...{ ...here, kind: 'turn_started', evaluator: 'JUDGE.md', turn: 2, prompt: 'reminder' },
    session: { kind: 'fork', id: 's2', from: 's1' },
  },
  turn_ended: {
    ...{
      ...here,
      kind: 'turn_ended',
      evaluator: 'JUDGE.md',
      turn: 2,
      session: 's2',
      costMicros: 220_800,
      estimated: true,
    },
    ...{ spentMicros: 412_300, durationMs: 1_234, failure: 'timeout', denials: ['Bash'] },
    ...{ canned: true, models: [{ model: 'claude-opus-5-5', tokens, micros: 220_800 }] },
  },
  printed: { ...here, kind: 'printed', turn: 2, text: 'half of it is done' },
  transition: {
    ...{ ...here, kind: 'transition', tag: 'call', to: 'NEXT.md', implicit: true, session: 's2', depth: 1 },
    ...{ costMicros: 412_300, tokens, input: 'text', sessionUse: 'resume', cwd: '/home' },
    tags: [calledTag],
    requested: [finishedTag],
    choice: { by: 'evaluator', name: 'JUDGE.md', why: 'a test is missing' },
  },
  evaluated: {
    ...{ ...here, kind: 'evaluated', evaluator: 'JUDGE.md', verdict: 'confirmed' },
    ...{ transition: '<goto>NEXT.md</goto>', why: 'all tests pass' },
  },
  reminded: {
    ...here,
    kind: 'reminded',
    evaluator: 'JUDGE.md',
    problem: 'no_tag',
    message: 'there is no tag',
    count: 1,
    limit: 3,
  },
  sleeping: {
    ...{ ...here, kind: 'sleeping', why: 'retry', untilMs: AT + 2_000, failure: 'transient', message: 'overloaded' },
    count: 1,
  },
  woken: { ...here, kind: 'woken' },
  session_lost: { ...here, kind: 'session_lost', session: 's1', next: 'new', message: 'it is gone' },
  asked: {
    ...{ ...here, kind: 'asked', ask: 'main-2', untilMs: AT + 86_400_000, taskFolder: '/w/tasks/main' },
    question: {
      ...{ text: 'Publish it?', next: 'PUBLISH.md', timeoutMs: 86_400_000, timeoutNext: 'LATER.md' },
      displayFiles: [{ path: 'plan.md', label: 'The plan' }],
      uploads: {
        ...{ slots: [{ name: 'a.pdf', mime: 'application/pdf' }], bucket: true, maxCount: 3, maxSize: 1_000 },
        ...{ maxTotalSize: 2_000, mime: ['image/png'] },
      },
    },
  },
  ask_answered: {
    ...{ ...here, kind: 'ask_answered', ask: 'main-2', text: 'Yes, today', by: 'anna@laptop' },
    ...{ answeredAt: AT - 60_000, files: ['a.pdf'] },
  },
  ask_timed_out: { ...here, kind: 'ask_timed_out', ask: 'main-2' },
  said: {
    ...{ ...here, kind: 'said', said: 'w1', text: 'Leave the tests alone', by: 'anna@laptop', saidAt: AT - 1_000 },
    ...{ turn: 2, refused: null },
  },
  turn_interrupted: {
    ...{
      ...here,
      kind: 'turn_interrupted',
      interrupt: 'i1',
      text: 'Start over',
      by: 'anna@laptop',
      saidAt: AT - 1_000,
    },
    ...{ turn: 2, refused: null },
  },
  said_delivered: { ...here, kind: 'said_delivered', said: 'w1', turn: 2, via: 'turn' },
  answer_withheld: {
    ...{ ...here, kind: 'answer_withheld', requested: [calledTag], implicit: false, session: 's2', sessionUse: 'new' },
    ...{ cwd: '/home', costMicros: 412_300 },
  },
  visit_limit: { ...here, kind: 'visit_limit', maxVisits: 4 },
  agent_paused: { ...here, kind: 'agent_paused', why: 'billing', message: 'no credit' },
  agent_failed: { ...here, kind: 'agent_failed', message: 'exit 1' },
  agent_ended: { ...here, kind: 'agent_ended', result: 'done' },
  agent_resumed: { ...here, kind: 'agent_resumed' },
  worktree_opening: { ...here, kind: 'worktree_opening' },
  worktree_opened: {
    ...{ kind: 'worktree_opened', ...here, path: '/w/t', branch: 'raymond/r/main_w1', base: 'c0ffee' },
    ...{ repository: '/w/.git', cwd: '/w/t/sub' },
  },
  worktree_leaving: { ...here, kind: 'worktree_leaving' },
  worktree_left: {
    ...{
      kind: 'worktree_left',
      ...here,
      path: '/w/t',
      branch: 'raymond/r/main_w1',
      kept: true,
      commits: 2,
      dirty: true,
    },
  },
  rehomed: { ...here, kind: 'rehomed', from: 'one', to: 'two' },
  workspace_opening: { kind: 'workspace_opening', at: AT, git: 'git@host:team/app.git', ref: 'main' },
  workspace_opened: {
    ...{ kind: 'workspace_opened', at: AT, path: '/w/main', branch: 'raymond/r/main', base: 'c0ffee' },
    ...{ repository: '/w/main/.git', remote: 'git@host:team/app.git', from: '/home/me' },
  },
  workspace_leaving: { kind: 'workspace_leaving', at: AT, path: '/w/main', branch: 'raymond/r/main' },
  workspace_left: {
    ...{ kind: 'workspace_left', at: AT, path: '/w/main', branch: 'raymond/r/main', remote: 'git@host:team/app.git' },
    ...{ kept: false, commits: 2, dirty: false, pushed: true },
  },
  joining: { ...here, kind: 'joining', workers: 5, done: 1, wanted: 4, group: 'docs', untilMs: AT + 60_000 },
  joined: {
    ...{ ...here, kind: 'joined', to: 'NEXT.md', timedOut: true, left: 1 },
    workers: { ended: 3, failed: 1, limited: 0, cancelled: 0 },
  },
  cancelling: { ...here, kind: 'cancelling', by: 'main' },
  agent_cancelled: { ...here, kind: 'agent_cancelled', by: 'main' },
  quota: {
    kind: 'quota',
    at: AT,
    quota: {
      account: 'a1b2c3d4e5f6',
      windows: {
        five_hour: { percent: 83.5, status: 'allowed_warning', resetsAtMs: 7_200_000, reportedAt: 5000 },
        seven_day: { percent: null, status: 'allowed', resetsAtMs: 172_800_000, reportedAt: 4000 },
      },
    },
    parallel: 4,
  },
  warning: { ...here, kind: 'warning', message: 'odd' },
};
