// What an evaluator by pattern adds to a transition in the interpreter, without disk or processes: the match, and the step with it.
import { figure, inTurns, median } from './harness.mjs';

const ROUNDS = 15;
const TRANSITIONS = 500;
const SCOPE = { files: ['A.md', 'B.md'], platform: 'unix' };
const POLICY = [
  { tag: 'goto', target: 'A', attributes: {} },
  { tag: 'goto', target: 'B', attributes: {} },
];
const ANSWER = `${'The work is done, the tests pass, and all of it is written down. '.repeat(60)}\n<goto>A</goto>`;

export async function measureEvaluators({ load, quick }) {
  const [{ DEFAULT_OPTIONS }, { newRun }, { step }, { matchPatterns }] = await Promise.all(
    ['core/options/options.js', 'core/run/run.js', 'core/step.js', 'turns/signals.js'].map(load),
  );
  const workflow = { name: 'w', path: '/w', platform: 'unix' };
  const start = { id: 'r', workflow, startedAt: 0, options: DEFAULT_OPTIONS, state: 'A.md', cwd: '/', input: null };
  const pattern = (text) => ({ kind: 'pattern', pattern: text, overridesOn: 'match', instead: POLICY[1] });
  const timed = (evaluators) => async () => {
    let run = newRun(start);
    const rules = { policy: POLICY, maxVisits: null, ...(evaluators.length > 0 && { evaluators }) };
    const begin = performance.now();
    for (let count = 0; count < TRANSITIONS; count += 1) {
      run = step(run, { kind: 'began', at: 1, agent: 'main', sessionId: 's', rules, warnings: [] }).run;
      const matches = evaluators.length === 0 ? {} : { matches: matchPatterns(evaluators, ANSWER) };
      const signal = { kind: 'answered', at: 1, agent: 'main', cost: null, denials: [], folders: {}, scope: SCOPE };
      run = step(run, { ...signal, text: ANSWER, ...matches }).run;
    }
    if (run.agents[0].state !== 'A.md' || run.agents[0].visits['A.md'] !== TRANSITIONS)
      throw new Error('it went astray');
    return ((performance.now() - begin) * 1000) / TRANSITIONS;
  };
  const cases = {
    without: timed([]),
    words: timed([pattern('TODO|FIXME')]),
    repeats: timed([pattern('TO+DO|FIX\\s*ME')]),
  };
  await inTurns(2, cases);
  const all = await inTurns(quick ? 5 : ROUNDS, cases);
  const added = (name) => median(all[name].map((us, round) => (us - all.without[round]) / 1000));
  return [
    figure('a transition with an answer of 4 KB, in the interpreter', median(all.without), 'µs'),
    figure('an evaluator by words, on top of that', added('words'), 'ms', 0.1),
    figure('an evaluator by a pattern with repetitions, on top of that', added('repeats'), 'ms', 0.1),
  ];
}
