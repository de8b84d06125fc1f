import { describe, expect, test } from 'vitest';
import type { FailureKind } from '../../../src/language/failure.ts';
import { parseClaudeLine } from '../../../src/turns/claude/event.ts';
import { type ClaudeOutcome, type EndedTurn, judgeClaudeTurn } from '../../../src/turns/claude/outcome.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../../../src/turns/claude/transcript.ts';
import { after, assistantText, init, type Lines, result, synthetic } from './lines.ts';

const NOW = Date.parse('2026-11-16T01:00:00Z');

function classify(lines: Lines, more: Partial<EndedTurn> = {}): ClaudeOutcome {
  return judgeClaudeTurn({
    transcript: after(...lines),
    endCause: 'exited',
    exitCode: 0,
    stderr: '',
    timeoutMessage: 'no output for 900 s, the limit set by the default',
    resumable: true,
    endedAtMs: NOW,
    outputLost: false,
    priorLimits: 0,
    costBaseline: { savedUsd: null, prices: {} },
    ...more,
  });
}

const brief = (outcome: ClaudeOutcome): readonly unknown[] =>
  outcome.kind === 'answered' ? ['answered', outcome.text] : [outcome.failure.kind, outcome.progress];
const messageOf = (outcome: ClaudeOutcome): string => (outcome.kind === 'failed' ? outcome.failure.message : '');

describe('on a full disk', () => {
  test('a turn without its result is no transient failure, and what it cost is an estimate', () => {
    const known = { outputLost: true, costBaseline: { savedUsd: null, prices: {} } };
    expect(brief(classify([init(), assistantText('hm')], known))).toStrictEqual(['disk', 'answer']);
    const stderr = 'Error: ENOSPC: no space left on device, write';
    expect(brief(classify([init(), assistantText('hm')], { stderr, exitCode: 1 }))).toStrictEqual(['disk', 'answer']);
  });

  test('a result that was written counts, but its cost may not be all of it', () => {
    expect(classify([init(), assistantText('done'), result()], { outputLost: true })).toMatchObject({
      kind: 'answered',
      cost: { kind: 'estimated', micros: 7_500 },
    });
  });
});

describe('a turn succeeds', () => {
  test('with a successful result, including denials and cost', () => {
    const denial = { tool_name: 'Bash', tool_input: { command: 'rm -r /' } };
    const models = [
      {
        model: 'claude-opus-4-8',
        tokens: { input: 1000, output: 2, cacheRead: 0, cacheWrite: 0 },
        weight: expect.closeTo(0.00505, 6),
      },
    ];
    expect(classify([init(), assistantText('done'), result({ permission_denials: [denial] })])).toStrictEqual({
      kind: 'answered',
      text: 'done',
      denials: ['Bash(rm -r /)'],
      cost: { kind: 'reported', micros: 7_500, models },
    });
  });

  test.each<[string, Partial<EndedTurn>]>([
    ['it ended in an odd way afterwards', { exitCode: 1 }],
    ['it hung afterwards', { endCause: 'hung', exitCode: null }],
    ['it was stopped afterwards', { endCause: 'stopped', exitCode: null }],
    ['it was silent afterwards', { endCause: 'timeout', exitCode: null }],
    ['nobody saw it end', { endCause: 'gone', exitCode: null }],
    ['it left notices', { stderr: 'Warning: something is deprecated' }],
  ])('although %s', (_, more) => {
    expect(brief(classify([init(), assistantText('done'), result()], more))).toStrictEqual(['answered', 'done']);
  });

  test.each([
    ['null', null],
    ['empty', ''],
    ['missing', undefined],
  ])('with the last text of the model, if the result is %s', (_, text) => {
    expect(brief(classify([init(), assistantText('my words'), result({ result: text })]))).toStrictEqual([
      'answered',
      'my words',
    ]);
  });

  test('with an empty text, if the model wrote none', () => {
    expect(brief(classify([init(), assistantText(''), result({ result: '' })]))).toStrictEqual(['answered', '']);
  });
});

test.each<[string, Lines, FailureKind]>([
  ['it says nothing and exits with 0', [], 'transient'],
  ['it begins and exits with 0', [init()], 'transient'],
  ['it answers, but there is no result', [init(), assistantText('done')], 'transient'],
  ['its result is empty and no model was asked', [init(), result({ result: '' })], 'transient'],
  ['only something else was answered', [init(), result({ origin: { kind: 'task-notification' } })], 'transient'],
])('a turn does not succeed if %s', (_, lines, kind) => {
  expect(brief(classify(lines))[0]).toBe(kind);
});

describe('a result that calls itself a success is judged by the events before it:', () => {
  const LIMIT = "You've hit your limit · resets 1pm (Asia/Tokyo)";
  const rejected = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1_794_897_000 } };

  test.each<[string, Lines, string]>([
    ['a limit that Claude Code made up', [synthetic(LIMIT, 'rate_limit'), result({ result: LIMIT })], 'usage_limit'],
    ['a limit without the name of an error', [synthetic(LIMIT, undefined), result({ result: LIMIT })], 'usage_limit'],
    ['a limit that no message tells', [rejected, result({ result: LIMIT })], 'usage_limit'],
    [
      'a limit in the middle of the work',
      [assistantText('I begin.'), synthetic(LIMIT, 'rate_limit'), result({ result: LIMIT })],
      'usage_limit',
    ],
    [
      'a login that has expired',
      [synthetic('Please run /login', 'authentication_failed'), result({ result: 'Please run /login' })],
      'authentication',
    ],
    ['a limit that the model speaks of', [assistantText(LIMIT), result({ result: LIMIT })], 'answered'],
    [
      'a limit that the model speaks of beside other things',
      [assistantText(`a ${LIMIT} b`), result({ result: `a ${LIMIT} b` })],
      'answered',
    ],
    ['an error that passed', [synthetic('529', 'overloaded'), assistantText('done'), result()], 'answered'],
  ])('%s', (_, lines, kind) => {
    expect(brief(classify([init(), ...lines]))[0]).toBe(kind);
  });

  test('what happens in later rounds does not matter', () => {
    const later = [init(), synthetic(LIMIT, 'rate_limit'), result({ result: LIMIT })];
    const answer = [init(), assistantText('<goto>A</goto>'), result({ result: '' })];
    expect(brief(classify([...answer, ...later]))).toStrictEqual(['answered', '<goto>A</goto>']);
    expect(brief(classify([...answer, init(), assistantText('The shell has ended.'), result()]))).toStrictEqual([
      'answered',
      '<goto>A</goto>',
    ]);
  });
});

const failing = (text: string, error: string | undefined, more: Record<string, unknown> = {}): Lines => [
  init(),
  synthetic(text, error),
  result({ is_error: true, result: text, stop_reason: 'stop_sequence', ...more }),
];
const broken = (subtype: string, ...errors: string[]): Record<string, unknown> => ({
  type: 'result',
  subtype,
  is_error: true,
  errors,
  total_cost_usd: 0,
  permission_denials: [],
});

describe('a failure is classified by the message of Claude Code', () => {
  test.each<[FailureKind, string, Lines]>([
    [
      'transient',
      'a server error',
      failing('API Error: 500 Internal server error', 'server_error', { api_error_status: 500 }),
    ],
    ['transient', 'an overload', failing('API Error: 529 Overloaded', 'overloaded', { api_error_status: 529 })],
    ['transient', 'a lost connection', failing('API Error: Connection dropped (ECONNRESET).', 'server_error')],
    ['transient', 'an answer that was no JSON', failing('API Error: Failed to parse JSON', 'unknown')],
    ['transient', 'an error nobody knows', failing('Something', 'cosmic_rays')],
    ['transient', 'an error without a name', failing('Something', undefined)],
    ['transient', 'an error in its execution', [init(), broken('error_during_execution', 'it fell over')]],
    [
      'usage_limit',
      'a limit',
      failing("You've hit your session limit · resets 2:56am (UTC)", 'rate_limit', { api_error_status: 429 }),
    ],
    ['usage_limit', 'a limit that only its text tells', failing('Claude AI usage limit reached|1794797676', undefined)],
    ['usage_limit', 'a limit that only its status tells', failing('API Error', 'unknown', { api_error_status: 429 })],
    [
      'authentication',
      'a wrong key',
      failing('Invalid API key · Fix external API key', 'authentication_failed', { api_error_status: 401 }),
    ],
    ['authentication', 'nobody logged in', failing('Not logged in · Please run /login', 'authentication_failed')],
    [
      'authentication',
      'an organisation that is not allowed',
      failing('No', 'oauth_org_not_allowed', { api_error_status: 403 }),
    ],
    ['billing', 'no money', failing('Credit balance is too low', 'billing_error', { api_error_status: 400 })],
    [
      'model',
      'no such model',
      failing("There's an issue with the selected model (x).", 'model_not_found', { api_error_status: 404 }),
    ],
    [
      'invalid_request',
      'a bad request, of which it says "unknown"',
      failing('API Error: 400 no', 'unknown', { api_error_status: 400 }),
    ],
    [
      'prompt_too_long',
      'a long prompt',
      failing('Prompt is too long', 'invalid_request', { terminal_reason: 'prompt_too_long', api_error_status: 400 }),
    ],
    [
      'prompt_too_long',
      'a full context',
      failing('Context limit reached', 'invalid_request', { terminal_reason: 'blocking_limit' }),
    ],
    ['refusal', 'a refusal', failing('API Error: unable to respond', 'invalid_request', { stop_reason: 'refusal' })],
    [
      'max_turns',
      'too many steps',
      [init(), assistantText('x'), broken('error_max_turns', 'Reached maximum number of turns (1)')],
    ],
    [
      'budget',
      'a budget used up',
      [init(), assistantText('x'), broken('error_max_budget_usd', 'Reached maximum budget ($0.001)')],
    ],
    [
      'session_lost',
      'a lost conversation',
      [broken('error_during_execution', 'No conversation found with session ID: X')],
    ],
  ])('%s: %s', (kind, _, lines) => {
    const outcome = classify(lines, { exitCode: 1 });
    expect(brief(outcome)[0]).toBe(kind);
    // A sentence for a person: it begins and ends like one and does not say the same thing twice.
    expect(messageOf(outcome)).toMatch(/^[A-Z].*[.!?…]$/);
  });

  test.each<[FailureKind, Partial<EndedTurn>, RegExp]>([
    ['session_lost', { stderr: 'No conversation found with session ID: X' }, /gone.*No conversation found/],
    ['transient', { stderr: 'Error: Session ID V is already in use.\n' }, /already in use.*conversation of its own/],
    [
      'invalid_request',
      { stderr: "error: option '--permission-mode <mode>' argument 'x' is invalid." },
      /argument 'x'/,
    ],
    ['invalid_request', { stderr: "error: unknown option '--effort'" }, /unknown option/],
    ['invalid_request', { stderr: '--dangerously-skip-permissions cannot be used with root/sudo privileges' }, /sudo/],
    ['invalid_request', { exitCode: 127, stderr: 'sh: claude: not found' }, /not found/],
    [
      'transient',
      { stderr: 'a\nSegmentation fault\n' },
      /exit code 1\) without a result; its last words were: Segmentation fault/,
    ],
    ['transient', { exitCode: null }, /was killed without a result/],
  ])('%s: on stderr, if it did not start (%o)', (kind, more, said) => {
    const outcome = classify([], { exitCode: 1, ...more });
    expect(brief(outcome)).toStrictEqual([kind, 'none']);
    expect(messageOf(outcome)).toMatch(said);
  });

  test('a notice on stderr is ignored once the turn has started', () => {
    const outcome = classify([init(), assistantText('x')], { exitCode: 1, stderr: 'the port is already in use' });
    expect(brief(outcome)).toStrictEqual(['transient', 'answer']);
  });
});

describe('a turn that Raymond ended', () => {
  test.each<[FailureKind, EndedTurn['endCause'], string]>([
    ['stopped', 'stopped', 'The turn was ended because the run was stopped.'],
    [
      'timeout',
      'timeout',
      'Claude Code was ended: no output for 900 s, the limit set by the default. A longer `timeout` gives it more time.',
    ],
    ['lost', 'gone', 'Claude Code was no longer running when the run was resumed.'],
  ])('is %s', (kind, ending, message) => {
    expect(classify([init(), assistantText('x')], { endCause: ending, exitCode: null })).toMatchObject({
      failure: { kind, message },
      progress: 'answer',
      cost: { kind: 'estimated' },
    });
  });

  test('is stopped, although an interrupted tool produces a result', () => {
    const lines = [init(), assistantText('x'), broken('error_during_execution', 'interrupted')];
    expect(brief(classify(lines, { endCause: 'stopped', exitCode: 1 }))).toStrictEqual(['stopped', 'answer']);
  });
});

test.each<[string, Lines, boolean, string]>([
  ['part of an answer', [init(), assistantText('x')], true, 'answer'],
  ['only the prompt', [init(), synthetic('No', 'server_error')], true, 'prompt'],
  ['nothing, if it is not on disk', [init(), assistantText('x')], false, 'none'],
  ['nothing, if it was never begun: what is on disk is older', [], true, 'none'],
])('a failed turn leaves %s', (_, lines, resumable, progress) => {
  expect(brief(classify(lines, { resumable, exitCode: 1 }))).toStrictEqual(['transient', progress]);
});

describe('a usage limit ends', () => {
  const text = "You've hit your session limit · resets 2:56am (UTC)";
  const limit = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: NOW / 1000 + 100 } };

  test.each<[string, Lines, number]>([
    ['when the event says', [limit, ...failing(text, 'rate_limit')], NOW + 100_000],
    ['when the text says, without an event', failing(text, 'rate_limit'), Date.parse('2026-11-16T02:57:00Z')],
    ['who knows when: it is probed', failing('API Error: Request rejected (429)', 'rate_limit'), NOW + 20 * 60_000],
  ])('%s', (_, lines, untilMs) => {
    expect(classify(lines, { exitCode: 1, priorLimits: 2 })).toMatchObject({
      failure: { kind: 'usage_limit', untilMs },
    });
  });

  test('only if it is one', () => {
    const outcome = classify([limit, ...failing('API Error: 500', 'server_error')], { exitCode: 1 });
    expect(outcome.kind === 'failed' && outcome.failure).toStrictEqual({
      kind: 'transient',
      message: 'Claude Code could not finish the turn: API Error: 500.',
    });
  });
});

test('a message is one line, for any output of Claude Code', () => {
  const message = messageOf(classify(failing(`API Error\n\n${'x '.repeat(5000)}`, 'server_error'), { exitCode: 1 }));
  expect(message.length).toBeLessThan(500);
  expect(message).not.toContain('\n');
});

test.each<[string, readonly string[], string, RegExp]>([
  [
    'prints what is no event',
    ['a', '', 'Please log in', 'b', 'c'],
    '',
    /result; .*no event: Please log in \/ b \/ c\.$/,
  ],
  ['says more on stderr', ['Please log in'], 'oops', /result; its last words were: oops\.$/],
  ['is cut off', ['{"type":"result","resu'], '', /without a result\.$/],
])('a turn without a result that %s has a message about it', (_, lines, stderr, message) => {
  const transcript = lines.map(parseClaudeLine).reduce(addClaudeEvent, EMPTY_TRANSCRIPT);
  expect(messageOf(classify([], { transcript, stderr }))).toMatch(message);
});
