import { exitCodeOf } from '../../src/events/run-document.ts';
import { broken, play, RESULT, refused, state } from './play.ts';
import { describe, expect, expectStuck, failures, read, resultOf, test, told } from './rig.ts';

const ONCE = { retries: 0 };

/** Where this is all that is permitted, an answer need not say it. */
const ONLY_NEXT = 'allowed_transitions:\n  - { tag: goto, target: NEXT.md }';

describe.concurrent('what only the user can mend pauses the run, and a resume goes on', () => {
  test.for([
    [
      'authentication',
      refused('Invalid API key · Please run /login', 'authentication_failed', { api_error_status: 401 }),
      /could not log in: Invalid API key .* Log in with `claude \/login`, .* then resume the run\./,
    ],
    [
      'billing',
      refused('Credit balance is too low', 'billing_error', { api_error_status: 400 }),
      /cannot pay: Credit balance is too low\. Add credit .* then resume the run\./,
    ],
    [
      'model',
      refused("There's an issue with the selected model (opus-9).", 'model_not_found', { api_error_status: 404 }),
      /The model cannot be used: .*opus-9.* Choose another `model`, then resume the run\./,
    ],
    [
      'invalid_request',
      refused('API Error: 400 something is wrong', 'invalid_request', { api_error_status: 400 }),
      /refused the request: .*something is wrong.* then resume the run\./,
    ],
    [
      'prompt_too_long',
      refused('Prompt is too long', 'invalid_request', { api_error_status: 400, terminal_reason: 'prompt_too_long' }),
      /does not fit .* Shorten the prompt, or reach the state by <reset> or <function>, then resume the run\./,
    ],
    [
      'prompt_too_long',
      refused('Context limit reached', 'unknown', { terminal_reason: 'blocking_limit' }),
      /does not fit into the model's context: Context limit reached\./,
    ],
  ] as const)('%s', async ([kind, act, saying], { rig }) => {
    const states = { 'START.md': state(ONLY_NEXT, play(act, 'on we go')), 'NEXT.md': play(RESULT) };
    const played = await rig.play(states);
    expectStuck(played, 'paused', saying);
    expect(failures(played)).toStrictEqual([kind]);
    expect(told(played, 'agent_paused')).toMatchObject([{ why: kind }]);
    expect(exitCodeOf(played.run)).toBe(3);
    expect(resultOf(await rig.resume(played))).toBe('done');
  });
});

describe.concurrent('what would fail again fails the agent', () => {
  test('a refusal', async ({ rig }) => {
    const refusal = refused('API Error: unable to respond', 'invalid_request', { stop_reason: 'refusal' });
    const played = await rig.play({ 'START.md': state(ONLY_NEXT, play(refusal)), 'NEXT.md': play(RESULT) });
    expectStuck(played, 'failed', /failed: START\.md: Claude declined to answer: .* Rephrase the prompt or choose/);
    expect(failures(played)).toStrictEqual(['refusal']);
    expect(exitCodeOf(played.run)).toBe(1);
  });

  test('the limit of steps, whatever was said before it', async ({ rig }) => {
    const act = broken('error_max_turns', ['Reached maximum number of turns (3)'], [{ assistant: { text: RESULT } }]);
    const played = await rig.play({ 'START.md': play(act) });
    expectStuck(played, 'failed', /limit of steps: Reached maximum number of turns \(3\)\. Give the state a smaller/);
    expect(failures(played)).toStrictEqual(['max_turns']);
  });

  test('an error in the midst of it, once it has been tried often enough', async ({ rig }) => {
    const act = broken('error_during_execution', ['Request was aborted.']);
    const played = await rig.play({ 'START.md': play(act, act) }, { retries: 1 });
    expectStuck(played, 'failed', /could not finish the turn: Request was aborted\. \(tried 2 times\)/);
    expect(failures(played)).toStrictEqual(['transient', 'transient']);
  });

  test('an error that nobody has seen before, in its own words', async ({ rig }) => {
    const act = broken('error_of_a_new_kind', []);
    const played = await rig.play({ 'START.md': state(ONLY_NEXT, play(act)), 'NEXT.md': play(RESULT) }, ONCE);
    expectStuck(played, 'failed', /error_of_a_new_kind/);
  });
});

test('a turn that used up the budget moves nothing, though the answer is there, until there is more money', async ({
  rig,
}) => {
  const act = broken('error_max_budget_usd', ['Reached maximum budget ($0.01)'], [{ assistant: { text: RESULT } }]);
  const played = await rig.play({ 'START.md': play(act, RESULT) }, { budgetMicros: 10_000 });
  expectStuck(played, 'budget_exceeded', /the budget is used up; a resume with a higher --budget goes on/);
  expect(failures(played)).toStrictEqual(['budget']);
  expect([played.run.ledger.spentMicros, exitCodeOf(played.run)]).toStrictEqual([10_000, 4]);
  const resumed = await rig.resume(played, { options: { budgetMicros: 1_000_000 } });
  expect(resultOf(resumed)).toBe('done');
  expect(told(resumed, 'turn_started')).toMatchObject([{ prompt: 'continue', session: { kind: 'resume' } }]);
  expect(resumed.run.ledger.spentMicros).toBe(20_000);
});

describe.concurrent('denied tools', () => {
  const denied = (text: string) => [
    { init: {} },
    { assistant: { text } },
    { result: { result: text, permission_denials: [{ tool_name: 'Bash', tool_input: { command: 'npm install' } }] } },
  ];

  test('do not let a state be left without a word, and the reminder names them', async ({ rig }) => {
    const states = {
      'START.md': state(ONLY_NEXT, play(denied('all done'), '<goto>NEXT.md</goto>')),
      'NEXT.md': play(RESULT),
    };
    const played = await rig.play(states);
    expect(resultOf(played)).toBe('done');
    expect(told(played, 'reminded')).toMatchObject([{ problem: 'tools_denied', count: 1 }]);
    expect(played.calls[1]?.prompt).toContain('the use of Bash(npm install) was not permitted');
    expect(read(played)).toMatch(/warning: not permitted: Bash\(npm install\); allowed_tools or --permission-mode/);
  });

  test('do not hold up an answer that says where to go, and the user is warned', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play(denied(RESULT)) });
    expect(resultOf(played)).toBe('done');
    expect(told(played, 'turn_ended')).toMatchObject([{ failure: null, denials: ['Bash(npm install)'] }]);
    expect(read(played)).toContain('warning: not permitted: Bash(npm install)');
  });
});
