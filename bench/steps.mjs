// What a transition costs in the interpreter alone, without disk or processes, among more and more agents.
import { figure, inTurns, median } from './harness.mjs';

const CROWDS = [1, 100, 1000, 10_000];
const TRANSITIONS = 200;
const ROUNDS = 15;
const SCOPE = { files: ['W.sh'], platform: 'unix' };
const RULES = { policy: [], maxVisits: null };

/** Every agent has a turn on record; the last of the crowd is the one that moves. */
async function newCrowd(load, crowd) {
  const [{ DEFAULT_OPTIONS }, { newRun }, { newAgent }, { step }, { TurnScheduler }, { withChange }] =
    await Promise.all(
      [
        'core/options/options.js',
        'core/run/run.js',
        'core/run/agent.js',
        'core/step.js',
        'core/turns/turn-scheduler.js',
        'core/run/change.js',
      ].map(load),
    );
  const workflow = { name: 'w', path: '/w', platform: 'unix' };
  const start = {
    id: 'r',
    workflow,
    startedAt: 0,
    options: { ...DEFAULT_OPTIONS, parallelScripts: null },
    state: 'W.sh',
    cwd: '/',
    input: null,
  };
  const alone = newRun(start);
  const [main] = alone.agents;
  const worker = (_, index) => newAgent({ ...main, id: `main_w${index + 1}`, parent: 'main', since: 0 });
  let run = { ...alone, agents: [main, ...Array.from({ length: crowd - 1 }, worker)] };
  const agenda = new TurnScheduler(run);
  const last = run.agents.at(-1).id;
  const take = (signal) => {
    const applied = withChange(run, step(run, { at: 1, ...signal }));
    run = applied.step.run;
    agenda.update(signal, applied);
  };
  const begin = (agent) => {
    take({ kind: 'began', agent, sessionId: 's', rules: RULES, warnings: [] });
    agenda.markStarted(agent);
  };
  const answer = { kind: 'answered', cost: null, denials: [], folders: {}, scope: SCOPE, text: '<reset>W</reset>' };
  for (const { id } of alone.agents.length === crowd ? alone.agents : run.agents) begin(id);
  return () => {
    take({ ...answer, agent: last });
    for (const { agent } of agenda.due()) begin(agent);
    if (agenda.due().length > 0) throw new Error('something is due that should have begun');
  };
}

export async function measureSteps({ load, quick }) {
  const crowds = quick ? CROWDS.slice(0, 3) : CROWDS;
  const moves = await Promise.all(crowds.map((crowd) => newCrowd(load, crowd)));
  const timed = (move) => async () => {
    const start = performance.now();
    for (let count = 0; count < TRANSITIONS; count += 1) move();
    return ((performance.now() - start) * 1000) / TRANSITIONS;
  };
  const cases = Object.fromEntries(crowds.map((crowd, index) => [crowd, timed(moves[index])]));
  await inTurns(2, cases);
  const all = await inTurns(ROUNDS, cases);
  const typical = crowds.map((crowd) => median(all[crowd]));
  return crowds.map((crowd, index) =>
    figure(`a transition in the interpreter, ${crowd.toLocaleString('en')} agents`, typical[index], 'µs'),
  );
}
