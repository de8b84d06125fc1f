import { describe, expect, test } from 'vitest';
import type { Options } from '../../src/core/options/options.ts';
import { due } from '../../src/core/turns/due.ts';
import type { AskAnswer } from '../../src/language/ask.ts';
import { findHandedFilesProblem } from '../../src/language/ask.ts';
import { RunDriver } from '../core/run-driver.ts';

const WORKFLOW = { files: ['START.md', 'NEXT.md', 'LATE.md', 'WORK.sh'] };
const HOUR = 3_600_000;
const ASK = '<ask next="NEXT">Publish it?</ask>';
const TIMED = '<ask next="NEXT" timeout="1h" timeout_next="LATE">Publish it?</ask>';

const driver = (options: Partial<Options> = {}): RunDriver => new RunDriver(WORKFLOW, options);

const answerOf = (ask: string, text: string): AskAnswer => ({
  ask,
  text,
  by: 'anna@laptop',
  answeredAt: 5,
  files: [],
});

const reply = (run: RunDriver, agent: string, ask: string, text: string): void => {
  run.apply({ kind: 'ask_answered', at: 9_000, agent, ...answerOf(ask, text) });
};

const problemOf = (text: string): string | undefined => driver().answer(text).eventsOf('reminded')[0]?.message;

const UPLOAD_MISTAKES = [
  ['upload_mime="image/png"', '`upload_mime` needs `upload_bucket="true"`'],
  ['upload_max_count="2"', '`upload_max_count` needs `upload_bucket="true"`'],
  ['upload_slots="a" upload_mime="image/png"', '`upload_mime` needs `upload_bucket="true"`'],
  ['upload_bucket="false" upload_max_count="2"', '`upload_max_count` needs `upload_bucket="true"`'],
  ['upload_max_size="1MB"', '`upload_max_size` needs `upload_slots` or `upload_bucket="true"`'],
  ['upload_slots=""', '`upload_slots` names no file: name one, or leave it out'],
  ['upload_slots=" , "', '`upload_slots` names no file: name one, or leave it out'],
  ['upload_slots="a,a:text/plain"', '`upload_slots` names a twice'],
  ['upload_slots="a:|text/plain"', '`upload_slots`: `a` has an empty type beside a `|`'],
  ['upload_bucket="perhaps"', '`upload_bucket` can be "true" or "false", not "perhaps"'],
  ['upload_bucket="true" upload_mime=""', '`upload_mime` names no type: name one, or leave it out'],
  ['upload_bucket="true" upload_max_count="0"', '`upload_max_count` must be a number of files such as 3, not "0"'],
  ['upload_bucket="true" upload_max_count="3MB"', '`upload_max_count` must be a number of files such as 3, not "3MB"'],
  [
    'upload_bucket="true" upload_slots="a,b" upload_max_count="1"',
    '`upload_max_count` is 1, and `upload_slots` has 2 files',
  ],
] as const;

describe('a question', () => {
  test('makes its agent wait in the state that asks', () => {
    const run = driver({ onAsk: 'wait' }).answer(TIMED);
    const question = {
      text: 'Publish it?',
      next: 'NEXT.md',
      timeoutMs: HOUR,
      timeoutNext: 'LATE.md',
      displayFiles: [],
      uploads: null,
      choices: null,
    };
    expect(run.agent().state).toBe('START.md');
    expect(run.agent().phase).toMatchObject({ kind: 'asking', ask: 'main-1', question, askedAt: 1020 });
    expect(run.eventsOf('asked')).toStrictEqual([
      {
        kind: 'asked',
        at: 1020,
        agent: 'main',
        state: 'START.md',
        ask: 'main-1',
        untilMs: 1020 + HOUR,
        question,
        taskFolder: null,
      },
    ]);
    expect(run.eventsOf('transition')).toStrictEqual([]);
    expect(due(run.run)).toStrictEqual([
      {
        kind: 'sleep',
        agent: 'main',
        why: 'ask',
        ask: 'main-1',
        state: 'START.md',
        mostMs: HOUR,
        untilMs: 1020 + HOUR,
        taskFolder: null,
        uploads: null,
        choices: null,
      },
    ]);
  });

  test('hands its answer to `next`, in the same conversation, and says who gave it', () => {
    const run = driver({ onAsk: 'wait' }).answer(ASK);
    reply(run, 'main', 'main-1', 'Yes, today');
    expect(run.eventsOf('ask_answered')).toStrictEqual([
      {
        kind: 'ask_answered',
        at: 9_000,
        agent: 'main',
        state: 'START.md',
        ask: 'main-1',
        text: 'Yes, today',
        by: 'anna@laptop',
        answeredAt: 5,
        files: [],
      },
    ]);
    expect(run.eventsOf('transition')).toMatchObject([{ tag: 'ask', to: 'NEXT.md', input: 'Yes, today' }]);
    const [turn] = due(run.run);
    expect(turn).toMatchObject({ state: 'NEXT.md', variables: { input: 'Yes, today', ask_id: 'main-1' } });
    run.answer('<goto>START</goto>');
    expect(run.sessionsUsed).toStrictEqual(['new s1', 'resume s1']);
    expect(due(run.run)[0]).not.toHaveProperty('variables.ask_id');
  });

  test('continues in `timeout_next` once its time is over', () => {
    const run = driver({ onAsk: 'wait' }).answer(TIMED);
    run.apply({ kind: 'ask_timed_out', at: HOUR * 2, agent: 'main', ask: 'main-1' });
    expect(run.eventsOf('ask_timed_out')).toStrictEqual([
      { kind: 'ask_timed_out', at: HOUR * 2, agent: 'main', state: 'START.md', ask: 'main-1' },
    ]);
    expect(run.eventsOf('transition')).toMatchObject([{ tag: 'ask', to: 'LATE.md', input: null }]);
    expect(run.agent()).toMatchObject({ state: 'LATE.md', input: null, askId: 'main-1' });
  });

  test('is over after the first answer: another one changes nothing', () => {
    const run = driver({ onAsk: 'wait' }).answer(ASK);
    reply(run, 'main', 'main-1', 'first');
    const { agents } = run.run;
    reply(run, 'main', 'main-1', 'second');
    run.apply({ kind: 'ask_timed_out', at: HOUR, agent: 'main', ask: 'main-1' });
    expect(run.run.agents).toBe(agents);
    expect(run.eventsOf('ask_answered').map(({ text }) => text)).toStrictEqual(['first']);
  });

  test('is also written <await>, in any letter case', () => {
    const run = driver({ onAsk: 'wait' }).answer('<Await NEXT="NEXT" Timeout="90" TIMEOUT_NEXT="LATE">Well?</AWAIT>');
    expect(run.agent().phase).toMatchObject({ kind: 'asking', question: { text: 'Well?', timeoutMs: 90_000 } });
  });

  test('keeps what it says about files', () => {
    const files = 'display_files="plan.md:The plan, img/b.png" upload_slots="a.pdf:application/pdf,b"';
    const limits =
      'upload_bucket="true" upload_max_count="3" upload_max_size="10MB" upload_mime="image/png,text/plain"';
    const run = driver({ onAsk: 'wait' }).answer(`<ask next="NEXT" ${files} ${limits}>Which?</ask>`);
    expect(run.eventsOf('asked')[0]?.question).toStrictEqual({
      text: 'Which?',
      next: 'NEXT.md',
      timeoutMs: null,
      timeoutNext: null,
      displayFiles: [
        { path: 'plan.md', label: 'The plan' },
        { path: 'img/b.png', label: null },
      ],
      uploads: {
        slots: [
          { name: 'a.pdf', mime: 'application/pdf' },
          { name: 'b', mime: null },
        ],
        bucket: true,
        maxCount: 3,
        maxSize: 10_000_000,
        maxTotalSize: null,
        mime: ['image/png', 'text/plain'],
      },
    });
  });

  test.each([
    ['<ask>Well?</ask>', '`<ask>` (line 1): `next="STATE"` is missing'],
    ['<ask next="NOWHERE">Well?</ask>', /^`<ask>` \(line 1\): `next`: there is no state `NOWHERE`/],
    ['<ask next="NEXT"> </ask>', '`<ask>` (line 1): the question is empty'],
    ['<ask next="NEXT" timeout="1h">Well?</ask>', '`<ask>` (line 1): `timeout` without a `timeout_next="STATE"`'],
    [
      '<ask next="NEXT" timeout_next="LATE">Well?</ask>',
      '`<ask>` (line 1): `timeout_next` without a `timeout`, such as timeout="24h"',
    ],
    [
      '<ask next="NEXT" timeout="soon" timeout_next="LATE">Well?</ask>',
      '`<ask>` (line 1): `timeout` must be a duration such as 90s, 10m or 24h, not "soon"',
    ],
    ['<ask next="NEXT" timeout="1h" timeout_next="GONE">Well?</ask>', /`timeout_next`: there is no state `GONE`/],
    [
      '<ask next="NEXT" display_files="../secret.md">Well?</ask>',
      '`<ask>` (line 1): `display_files`: `../secret.md` is not within the task folder',
    ],
    [
      '<ask next="NEXT" display_files="a.md,/etc/passwd:x">Well?</ask>',
      '`<ask>` (line 1): `display_files`: `/etc/passwd` is not within the task folder',
    ],
    [
      '<ask next="NEXT" upload_max_size="big">Well?</ask>',
      '`<ask>` (line 1): `upload_max_size` must be a number such as 3 or 10MB, not "big"',
    ],
    [
      '<ask next="NEXT" upload_slots="../a">Well?</ask>',
      '`<ask>` (line 1): `upload_slots`: `../a` cannot be the name of a file',
    ],
    ...UPLOAD_MISTAKES.map(([attributes, message]): [string, string] => [
      `<ask next="NEXT" ${attributes}>Well?</ask>`,
      `\`<ask>\` (line 1): ${message}`,
    ]),
    ['<ask next="NEXT" input="x">Well?</ask>', '`<ask>` (line 1): `input` has no meaning on <ask>'],
    ['<ask next="NEXT">A?</ask><ask next="NEXT">B?</ask>', /^found 2 tags: /],
    ['<fork next="NEXT">WORK</fork><ask next="NEXT">B?</ask>', /^found 2 tags: /],
  ] as const)('that is not valid is asked for again: %s', (text, message) => {
    expect(problemOf(text)).toMatch(message);
  });

  test.each([
    ['upload_slots="a.pdf:application/pdf|text/plain"', { name: 'a.pdf', mime: 'text/plain' }, undefined],
    ['upload_slots="a.pdf: application/pdf | image/*"', { name: 'a.pdf', mime: 'image/png' }, undefined],
    [
      'upload_slots="a.pdf:application/pdf|text/plain"',
      { name: 'a.pdf', mime: 'image/png' },
      'a.pdf is image/png, and should be application/pdf or text/plain',
    ],
    ['upload_slots="notes:text/markdown"', { name: 'notes', mime: 'application/octet-stream' }, undefined],
    ['upload_bucket="false"', { name: 'a', mime: '' }, 'the question takes no files'],
    ['upload_bucket="True"', { name: 'a', mime: '' }, undefined],
  ])('with %s takes or refuses a file: %o', (attributes, file, expected) => {
    const run = driver({ onAsk: 'wait' }).answer(`<ask next="NEXT" ${attributes}>Which?</ask>`);
    const uploads = run.eventsOf('asked')[0]?.question.uploads ?? null;
    expect(findHandedFilesProblem(uploads, [{ size: 1, ...file }])?.message).toBe(expected);
  });

  test('with upload_bucket="false" is answered with a text alone', () => {
    const run = driver({ onAsk: 'wait' }).answer('<ask next="NEXT" upload_bucket="false">Which?</ask>');
    const uploads = run.eventsOf('asked')[0]?.question.uploads ?? null;
    expect(findHandedFilesProblem(uploads, [])).toBeUndefined();
  });

  test('obeys a policy: states and durations are compared by what they mean', () => {
    const policy = [
      { tag: 'ask', target: null, attributes: { next: 'NEXT.md', timeout: '60m', timeout_next: 'LATE' } },
    ] as const;
    const run = (text: string) =>
      new RunDriver({ ...WORKFLOW, rules: { 'START.md': { policy } } }, { onAsk: 'wait' }).answer(text);
    expect(run(TIMED).agent().phase.kind).toBe('asking');
    expect(run(ASK).eventsOf('reminded')).toMatchObject([{ problem: 'not_permitted' }]);
  });
});

describe('a run with a question', () => {
  const forked = (options: Partial<Options> = {}): RunDriver =>
    driver(options).answer('<fork next="START">WORK</fork>').answer(TIMED);

  test('waits for the answer if it is to', () => {
    expect(driver({ onAsk: 'wait' }).answer(ASK).run.status).toBe('running');
  });

  test('ends as waiting once nothing else can be done, and listens to people until then', () => {
    const run = forked();
    expect(run.run.status).toBe('running');
    expect(
      due(run.run)
        .map(({ agent }) => agent)
        .sort(),
    ).toStrictEqual(['main', 'main_work1']);
    run.runTurn('main_work1', '<result>done</result>');
    expect(run.run.status).toBe('waiting');
    expect(due(run.run)).toStrictEqual([]);
    expect(run.eventsOf('run_ended').map(({ status }) => status)).toStrictEqual(['waiting']);
  });

  test('waits if somebody watches the process that drives it, and no longer once nobody does', () => {
    const run = driver().answer(ASK);
    expect(run.run.status).toBe('waiting');
    const resumed = { kind: 'resumed', at: 2_000, options: {}, retry: false, lookedUp: {} } as const;
    run.apply({ ...resumed, attended: true });
    expect(run.run.status).toBe('running');
    run.apply(resumed);
    expect(run.run.status).toBe('waiting');
  });

  test('lets its agent fail if nobody is to be asked, also one that has asked before', () => {
    const message = 'START.md: it asks a person, and nobody is to be asked (--on-ask fail): Publish it?';
    expect(driver({ onAsk: 'fail' }).answer(ASK).agent().phase).toStrictEqual({ kind: 'failed', message });
    const run = driver().answer(ASK).resume({ onAsk: 'fail' });
    expect([run.run.status, run.agent().phase]).toStrictEqual(['failed', { kind: 'failed', message }]);
  });

  test('takes up answers and timeouts that came while nothing drove it, in one step', () => {
    const run = forked().runTurn('main_work1', '<ask next="NEXT">And this?</ask>');
    expect(run.run.status).toBe('waiting');
    const { events } = run.apply({
      kind: 'resumed',
      at: HOUR * 3,
      options: {},
      retry: false,
      lookedUp: {},
      answers: [answerOf('main_work1-1', 'Yes')],
      timedOut: ['main-2'],
    });
    expect(events.map((event) => ('agent' in event ? `${event.kind} ${event.agent}` : event.kind))).toStrictEqual([
      'run_resumed',
      'ask_timed_out main',
      'transition main',
      'ask_answered main_work1',
      'transition main_work1',
    ]);
    expect(run.run.status).toBe('running');
    expect(run.run.agents.map(({ state, input }) => [state, input])).toStrictEqual([
      ['LATE.md', null],
      ['NEXT.md', 'Yes'],
    ]);
  });

  test('waits although it was stopped, and keeps waiting after a resume', () => {
    const run = driver({ onAsk: 'wait' }).answer(ASK);
    run.apply({ kind: 'stopped', at: 2_000, by: 'stopped' });
    expect(run.run.status).toBe('paused');
    run.resume();
    expect(run.run.status).toBe('running');
  });

  test('of a script is asked, too', () => {
    const run = new RunDriver({ files: ['WORK.sh', 'NEXT.md'] }, { onAsk: 'wait' }).answer(ASK);
    reply(run, 'main', 'main-1', 'go');
    expect(run.agent()).toMatchObject({ state: 'NEXT.md', input: 'go' });
  });
});
