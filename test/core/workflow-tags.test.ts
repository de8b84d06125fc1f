import { describe, expect, test } from 'vitest';
import { interpretAnswer } from '../../src/core/answers/answer.ts';
import type { Options } from '../../src/core/options/options.ts';
import { getAgent, type Run } from '../../src/core/run/run.ts';
import { promptVariables } from '../../src/core/run/variables.ts';
import { step } from '../../src/core/step.ts';
import type { EnteredWorkflow, NamedWorkflows } from '../../src/language/named-workflows.ts';
import { findNamedWorkflows } from '../../src/language/tags/permitted-tags.ts';
import { contextOf, entryOf, scopeOf } from './builders.ts';
import { startRun } from './run-driver.ts';

const entered = (changes: Partial<EnteredWorkflow> = {}): EnteredWorkflow => ({
  name: 'review',
  title: 'review',
  path: '/w/review',
  state: 'review/START.md',
  requiredInput: null,
  takesNoInput: false,
  joins: false,
  variables: {},
  ...changes,
});

const NAMED: NamedWorkflows = {
  '../review': entered(),
  '../strict': entered({
    name: 'strict',
    title: 'strict',
    state: 'strict/START.md',
    requiredInput: 'the file to check',
  }),
  '../silent': entered({ takesNoInput: true }),
  '../team': entered({ joins: true }),
  '../book': entered({ name: null, title: 'book', state: 'START.md' }),
  '../gone': { problem: 'there is no ../gone' },
};

const FILES = ['START.md', 'NEXT.md', 'STEP.sh'];

/** The run after one of its agents has taken a turn with this answer. */
function say(run: Run, text: string, agent = 'main', named = NAMED): Run {
  const began = step(run, { kind: 'began', at: 1, agent, sessionId: `s${run.seq}`, rules: NO_RULES, warnings: [] }).run;
  const scope = scopeOf(FILES);
  const folders = { sub: '/w/sub' };
  const answer = { kind: 'answered', at: 2, agent, text, cost: null, denials: [], scope, folders } as const;
  return step(began, { ...answer, workflows: named }).run;
}

const NO_RULES = { policy: [], maxVisits: null };
const begin = (options: Partial<Options> = {}): Run => startRun({ files: FILES }, options);
const main = (run: Run) => getAgent(run, 'main');

describe('a call into another workflow', () => {
  test('enters its first state, and its result comes back into the caller', () => {
    const called = say(begin(), '<call-workflow return="NEXT" input="x">../review</call-workflow>');
    expect(main(called)).toMatchObject({ state: 'review/START.md', input: 'x', nesting: 1 });
    expect(main(called).session).toStrictEqual({ kind: 'branch', of: 's0' });
    const moved = say(called, '<goto>NEXT</goto>');
    expect(main(moved).state).toBe('review/NEXT.md');
    const back = say(moved, '<result>fine</result>');
    expect(main(back)).toMatchObject({ state: 'NEXT.md', input: 'fine', stack: [], nesting: 0 });
  });

  test('returns into the workflow that called, however many are nested', () => {
    const outer = say(begin(), '<function-workflow return="NEXT">../review</function-workflow>');
    const inner = say(outer, '<call-workflow return="NEXT" input="a.txt">../strict</call-workflow>');
    expect(main(inner)).toMatchObject({ state: 'strict/START.md', nesting: 2 });
    const own = say(inner, '<call-workflow return="NEXT">../book</call-workflow>');
    expect(main(own)).toMatchObject({ state: 'START.md', nesting: 3 });
    const states = [own];
    for (let count = 0; count < 3; count += 1) states.push(say(states.at(-1) ?? own, '<result>r</result>'));
    expect(states.slice(1).map((run) => main(run).state)).toStrictEqual([
      'strict/NEXT.md',
      'review/NEXT.md',
      'NEXT.md',
    ]);
  });

  test.each([
    'call-workflow return="NEXT"',
    'function-workflow return="NEXT"',
    'fork-workflow next="NEXT"',
    'reset-workflow',
  ])('has its `input` rendered with the variables of the state that is left: %s', (tag) => {
    const begun = begin({ variables: { lang: 'English' } });
    const name = tag.split(' ')[0] ?? '';
    const said = say(
      begun,
      `<${tag} input="{{workflow_id}}/{{agent_id}} in {{lang}}, {{other}}, \\{{lang}}">../review</${name}>`,
    );
    const agent = said.agents.at(-1);
    expect([agent?.state, agent?.input]).toStrictEqual([
      'review/START.md',
      `${begun.id}/main in English, {{other}}, {{lang}}`,
    ]);
  });

  test('takes the content of an `input-file` and what an earlier input says as they are', () => {
    const context = contextOf({
      workflows: NAMED,
      files: { f: { text: '{{lang}}' } },
      variables: { lang: 'x', input: '{{lang}}' },
    });
    const inputOf = (attribute: string) => {
      const decision = interpretAnswer(`<reset-workflow ${attribute}>../review</reset-workflow>`, context);
      return decision.kind === 'go' ? decision.tags[0]?.target.input : decision.problem;
    };
    expect(inputOf('input-file="f"')).toBe('{{lang}}');
    expect(inputOf('input="{{input}}"')).toBe('{{lang}}');
  });

  test('is remembered by the run, so that a resume finds the workflow', () => {
    const named = { '../review': entered({ variables: { tone: 'dry' } }) };
    const called = say(begin(), '<call-workflow return="NEXT">../review</call-workflow>', 'main', named);
    expect(called.workflows).toStrictEqual({ review: { path: '/w/review', variables: { tone: 'dry' } } });
    expect(promptVariables(called, main(called)).tone).toBe('dry');
    expect(promptVariables(called, { ...main(called), state: 'START.md' }).tone).toBeUndefined();
  });

  test('counts visits by the name of the workflow', () => {
    const back = say(say(begin(), '<call-workflow return="START">../review</call-workflow>'), '<result>r</result>');
    expect(main(say(back, '<goto>START</goto>')).visits).toStrictEqual({ 'START.md': 2, 'review/START.md': 1 });
  });

  test('takes no `cd`, which only a new conversation can follow', () => {
    const context = contextOf({ workflows: NAMED });
    expect(interpretAnswer('<call-workflow return="A" cd="sub">../review</call-workflow>', context)).toMatchObject({
      problem: { kind: 'misplaced_attribute' },
    });
    const moved = say(begin(), '<function-workflow return="NEXT" cd="sub">../review</function-workflow>');
    expect(main(moved).cwd).toBe('/w/sub');
    expect(main(say(moved, '<result>r</result>')).cwd).toBe('/w');
  });
});

describe('a worker in another workflow', () => {
  test('is called after the workflow and has the other attributes as variables', () => {
    const forked = say(begin(), '<fork-workflow item="a">../review</fork-workflow><fork>STEP</fork><goto>NEXT</goto>');
    expect(forked.agents.map(({ id, state }) => [id, state])).toStrictEqual([
      ['main', 'NEXT.md'],
      ['main_review1', 'review/START.md'],
      ['main_step2', 'STEP.sh'],
    ]);
    expect(getAgent(forked, 'main_review1')).toMatchObject({ variables: { item: 'a' }, nesting: 1, stack: [] });
    const inside = say(forked, '<fork next="NEXT">STEP</fork>', 'main_review1');
    expect(inside.agents.at(-1)).toMatchObject({ id: 'main_review1_step1', state: 'review/STEP.sh' });
  });
});

describe('a reset into another workflow', () => {
  test('leaves for good, unless it keeps the stack', () => {
    const called = say(begin(), '<call-workflow return="NEXT">../review</call-workflow>');
    expect(main(say(called, '<reset-workflow>../book</reset-workflow>'))).toMatchObject({
      state: 'START.md',
      stack: [],
      nesting: 0,
      session: null,
    });
    const kept = say(called, '<reset-workflow stack="keep">../book</reset-workflow>');
    expect(main(kept)).toMatchObject({ state: 'START.md', nesting: 1 });
    expect(main(say(kept, '<result>r</result>'))).toMatchObject({ state: 'NEXT.md', nesting: 0 });
  });
});

describe('a workflow that cannot be entered', () => {
  test.each([
    ['is not there', '../gone', {}, 'bad_workflow', 'there is no ../gone'],
    ['was not looked for', '../other', {}, 'bad_workflow', 'there is no such workflow'],
    ['has no path', '', {}, 'bad_workflow', 'the path of the workflow is empty'],
    ['needs an input', '../strict', {}, 'missing_input', 'this workflow needs an `input`: the file to check'],
    [
      'is nested too deep',
      '../review',
      { nesting: 8 },
      'too_deep',
      'it would be nested in 9 workflows, and at most 8 are allowed (`max_depth`)',
    ],
  ])('%s', (_, spec, changes, kind, why) => {
    const text = `<call-workflow return="A">${spec}</call-workflow>`;
    const decision = interpretAnswer(text, contextOf({ workflows: NAMED, ...changes }));
    const message = `\`<call-workflow>${spec}</call-workflow>\` (line 1): ${why}`;
    expect(decision).toStrictEqual({ kind: 'wrong', problem: { kind, message } });
  });

  test('is nested as deep as the run allows, and a reset is never deeper', () => {
    let run = begin({ maxDepth: 2 });
    for (const spec of ['../review', '../book']) run = say(run, `<call-workflow return="NEXT">${spec}</call-workflow>`);
    const refused = say(run, '<call-workflow return="NEXT">../review</call-workflow>');
    expect(main(refused)).toMatchObject({ state: 'START.md', reminders: 1 });
    const left = say(run, '<reset-workflow stack="keep">../review</reset-workflow>');
    expect(main(left)).toMatchObject({ state: 'review/START.md', nesting: 2 });
  });

  test('gets its input from the policy', () => {
    const policy = [entryOf('call-workflow', '../strict', { return: 'R', input: 'all of it' })];
    const context = contextOf({ policy, workflows: NAMED });
    expect(interpretAnswer('done', context)).toMatchObject({ kind: 'go', tags: [{ target: { input: 'all of it' } }] });
  });
});

test('an input for a workflow that takes none is handed over with a warning', () => {
  const context = contextOf({ scope: scopeOf(FILES), workflows: NAMED });
  const decide = (attributes: string) =>
    interpretAnswer(`<call-workflow return="NEXT"${attributes}>../silent</call-workflow>`, context);
  expect(decide(' input="x"')).toMatchObject({
    kind: 'go',
    warnings: [expect.stringContaining('this workflow says that it takes no input (`mode: none`)')],
  });
  expect(decide('')).toMatchObject({ kind: 'go', warnings: [] });
});

test('a run in which a workflow is entered that joins its workers keeps them from then on', () => {
  const call = (path: string): Run => say(begin(), `<call-workflow return="NEXT">${path}</call-workflow>`);
  expect([call('../review').joins, call('../team').joins]).toStrictEqual([false, true]);
});

test('a policy names a workflow by its path, with or without a slash at the end', () => {
  const policy = [entryOf('call-workflow', '../review/', { return: 'R' }), entryOf('result')];
  const context = contextOf({ policy, workflows: NAMED });
  const call = (spec: string) => interpretAnswer(`<call-workflow return="R">${spec}</call-workflow>`, context).kind;
  expect([call('../review'), call('../strict')]).toStrictEqual(['go', 'wrong']);
});

test('the workflows that an answer names are found, implicit ones included', () => {
  const text = '<fork-workflow>../a</fork-workflow><fork-workflow>../a</fork-workflow><goto>B</goto>';
  expect(findNamedWorkflows(text, [entryOf('reset-workflow', '../b')])).toStrictEqual(['../a', '../b']);
});

test('a script that names a workflow which is not there keeps its answer for a resume', () => {
  const run = startRun({ files: ['STEP.sh', ...FILES] });
  const paused = say(run, '<call-workflow return="NEXT">../gone</call-workflow>');
  expect(main(paused).phase).toMatchObject({ kind: 'paused', why: 'unfollowable' });
  const resumed = step(paused, {
    kind: 'resumed',
    at: 3,
    options: {},
    retry: false,
    lookedUp: { main: { scope: scopeOf(FILES), folders: {}, workflows: { '../gone': entered() } } },
  }).run;
  expect(main(resumed)).toMatchObject({ state: 'review/START.md', nesting: 1 });
});
