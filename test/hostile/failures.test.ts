import { exitCodeOf } from '../../src/documents/run-document.ts';
import { broken, fakePrompt, RESULT, refused, state } from './fake-prompt.ts';
import { describe, eventsOf, expect, expectStuck, failures, logOf, resultOf, test } from './rig.ts';

const ONCE = { retries: 0 };

/** Where this is all that is permitted, an answer need not say it. */
const ONLY_NEXT = 'allowed_transitions:\n  - { tag: goto, target: NEXT.md }';

describe.concurrent('a problem that only the user can fix pauses the run, and a resume continues', () => {
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
    const states = { 'START.md': state(ONLY_NEXT, fakePrompt(act, 'on we go')), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(states);
    expectStuck(finished, 'paused', saying);
    expect(failures(finished)).toStrictEqual([kind]);
    expect(eventsOf(finished, 'agent_paused')).toMatchObject([{ why: kind }]);
    expect(exitCodeOf(finished.run)).toBe(3);
    expect(resultOf(await rig.resume(finished))).toBe('done');
  });
});

describe.concurrent('a permanent problem fails the agent', () => {
  test('a refusal', async ({ rig }) => {
    const refusal = refused('API Error: unable to respond', 'invalid_request', { stop_reason: 'refusal' });
    const finished = await rig.run({
      'START.md': state(ONLY_NEXT, fakePrompt(refusal)),
      'NEXT.md': fakePrompt(RESULT),
    });
    expectStuck(finished, 'failed', /failed: START\.md: Claude declined to answer: .* Rephrase the prompt or choose/);
    expect(failures(finished)).toStrictEqual(['refusal']);
    expect(exitCodeOf(finished.run)).toBe(1);
  });

  test('the turn limit, regardless of the answer before it', async ({ rig }) => {
    const act = broken('error_max_turns', ['Reached maximum number of turns (3)'], [{ assistant: { text: RESULT } }]);
    const finished = await rig.run({ 'START.md': fakePrompt(act) });
    expectStuck(finished, 'failed', /limit of steps: Reached maximum number of turns \(3\)\. Give the state a smaller/);
    expect(failures(finished)).toStrictEqual(['max_turns']);
  });

  test('an error during execution, after all retries', async ({ rig }) => {
    const act = broken('error_during_execution', ['Request was aborted.']);
    const finished = await rig.run({ 'START.md': fakePrompt(act, act) }, { retries: 1 });
    expectStuck(finished, 'failed', /could not finish the turn: Request was aborted\. \(tried 2 times\)/);
    expect(failures(finished)).toStrictEqual(['transient', 'transient']);
  });

  test('an unknown error, with its own message', async ({ rig }) => {
    const act = broken('error_of_a_new_kind', []);
    const finished = await rig.run(
      { 'START.md': state(ONLY_NEXT, fakePrompt(act)), 'NEXT.md': fakePrompt(RESULT) },
      ONCE,
    );
    expectStuck(finished, 'failed', /error_of_a_new_kind/);
  });
});

test('a turn that used up the budget is not followed, though it has an answer, until the budget is higher', async ({
  rig,
}) => {
  const act = broken('error_max_budget_usd', ['Reached maximum budget ($0.01)'], [{ assistant: { text: RESULT } }]);
  const finished = await rig.run({ 'START.md': fakePrompt(act, RESULT) }, { budgetMicros: 10_000 });
  expectStuck(finished, 'budget_exceeded', /the budget is used up; a resume with a higher --budget continues/);
  expect(failures(finished)).toStrictEqual(['budget']);
  expect([finished.run.ledger.spentMicros, exitCodeOf(finished.run)]).toStrictEqual([10_000, 4]);
  const resumed = await rig.resume(finished, { options: { budgetMicros: 1_000_000 } });
  expect(resultOf(resumed)).toBe('done');
  expect(eventsOf(resumed, 'turn_started')).toMatchObject([{ prompt: 'continue', session: { kind: 'resume' } }]);
  expect(resumed.run.ledger.spentMicros).toBe(20_000);
});

describe.concurrent('denied tools', () => {
  const denied = (text: string) => [
    { init: {} },
    { assistant: { text } },
    { result: { result: text, permission_denials: [{ tool_name: 'Bash', tool_input: { command: 'npm install' } }] } },
  ];

  test('prevent an implicit transition, and the reminder names them', async ({ rig }) => {
    const states = {
      'START.md': state(ONLY_NEXT, fakePrompt(denied('all done'), '<goto>NEXT.md</goto>')),
      'NEXT.md': fakePrompt(RESULT),
    };
    const finished = await rig.run(states);
    expect(resultOf(finished)).toBe('done');
    expect(eventsOf(finished, 'reminded')).toMatchObject([{ problem: 'tools_denied', count: 1 }]);
    expect(finished.calls[1]?.prompt).toContain('the use of Bash(npm install) was not permitted');
    expect(logOf(finished)).toMatch(/warning: not permitted: Bash\(npm install\); allowed_tools or --permission-mode/);
  });

  test('do not affect an answer with a tag, and cause a warning', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt(denied(RESULT)) });
    expect(resultOf(finished)).toBe('done');
    expect(eventsOf(finished, 'turn_ended')).toMatchObject([{ failure: null, denials: ['Bash(npm install)'] }]);
    expect(logOf(finished)).toContain('warning: not permitted: Bash(npm install)');
  });
});
