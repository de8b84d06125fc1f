import type { Observation } from '../observation.ts';
import type { ModelAgent } from './model-agent.ts';
import { compare, expect, Mismatch, note, type RunModel } from './run-model.ts';

/** A turn begins: checks that it may, what it is told and in which conversation. */
export function startTurn(model: RunModel, agent: ModelAgent, observed: Observation): void {
  if (agent.phase !== 'ready') throw new Mismatch(`it is ${agent.phase}`);
  if (model.stop !== null) throw new Mismatch(`the run stops: ${model.stop}`);
  if (model.subject.usesWorkspace && !model.isCloneOpen) throw new Mismatch('its clone is not there');
  const { evaluation } = agent;
  const isPrompt = model.isPromptTurn(agent);
  const session = isPrompt ? model.sessionOf(agent) : null;
  const prompt =
    isPrompt && evaluation === null && agent.prompt === 'state' && session?.compact === true ? 'compact' : agent.prompt;
  const evaluator = evaluation === null ? null : model.fileOf(agent);
  compare({ state: agent.state, evaluator, turn: agent.turns + 1, prompt }, observed, 'the turn');
  if (evaluation === null && !agent.isEntered && prompt !== 'compact') enter(model, agent);
  checkSession(agent, observed, isPrompt, session);
  if (isPrompt) checkPrompt(model, agent, observed, prompt);
  noteKind(model, agent, prompt, isPrompt);
  agent.phase = 'running';
  agent.running = prompt;
  agent.turns += 1;
  agent.tries += 1;
  agent.prints = [];
  agent.quotaReports = model.quotaReports;
  agent.refused.clear();
  if (!isPrompt || evaluation !== null || prompt === 'compact') return;
  for (const message of agent.messages) {
    if (message.turn !== null) continue;
    message.turn = agent.turns;
    expect(agent, 'said_delivered', { said: message.id, turn: agent.turns, via: 'prompt' });
  }
}

function enter(model: RunModel, agent: ModelAgent): void {
  const { maxVisits, perCall } = model.def(agent.state);
  const visits = agent.visits.get(agent.state) ?? 0;
  const counted = perCall ? (agent.callVisits.get(agent.state) ?? 0) : visits;
  if (maxVisits !== null && counted >= maxVisits)
    throw new Mismatch(`it may enter ${agent.state} only ${maxVisits} times`);
  if (model.maxIterations !== null && model.iterations >= model.maxIterations)
    throw new Mismatch(`${model.maxIterations} states were entered already`);
  agent.isEntered = true;
  agent.visits.set(agent.state, visits + 1);
  if (perCall) agent.callVisits.set(agent.state, counted + 1);
  model.iterations += 1;
}

function checkSession(
  agent: ModelAgent,
  observed: Observation,
  isPrompt: boolean,
  session: ReturnType<RunModel['sessionOf']>,
): void {
  if (!isPrompt) {
    agent.turnSession = null;
    compare({ session: null }, observed, 'the turn of a script');
    return;
  }
  const used = observed.session as { kind: string; id: string };
  if (session === null) compare({ session: { kind: 'new' } }, observed, 'the conversation');
  else if (session.kind === 'open')
    compare({ session: { kind: 'resume', id: session.id } }, observed, 'the conversation');
  else compare({ session: { kind: 'fork', from: session.id } }, observed, 'the conversation');
  agent.turnSession = { kind: used.kind, id: used.id };
}

function checkPrompt(model: RunModel, agent: ModelAgent, observed: Observation, prompt: string): void {
  if (observed.at < model.hold) throw new Mismatch(`no turn may start before the usage limit ends at ${model.hold}`);
  const running = [...model.agents.values()].filter(
    (each) => (each.phase === 'running' || each.phase === 'cancelling') && each.turnSession !== null,
  );
  const reserved = model.reservedUntil();
  if (reserved !== null && observed.at < reserved)
    throw new Mismatch(`the rest of the subscription is kept for the user until ${reserved}`);
  const isReset = model.quota === null || observed.at >= model.quota.resetsAt;
  if (running.length >= (isReset ? model.subject.parallel : model.parallelTurns()))
    throw new Mismatch(`${running.length} turns are running already`);
  const preference =
    agent.evaluation === null ? { model: agent.model, effort: agent.effort } : { model: null, effort: null };
  if (observed.preference !== null) compare({ preference }, observed, 'model and effort');
  const text = String(observed.text);
  const expected = model.promptOf(agent);
  const hidesInput =
    agent.evaluation !== null && model.def(agent.state).policy.some(({ attributes }) => attributes.input !== undefined);
  const own = checkResultsFile(model, agent, text, hidesInput ? expected.replace(/ transition \[.*/s, '') : expected);
  if (prompt === 'state' && !text.includes(own))
    throw new Mismatch(`the prompt should be\n  ${own}\nbut is\n  ${text}`);
  if (prompt !== 'state' && text.includes(own.slice(0, 40)))
    throw new Mismatch(`a ${prompt} should not repeat the prompt: ${text}`);
  if (prompt === 'compact' && !text.startsWith('/compact'))
    throw new Mismatch(`the command should be /compact, but is ${text}`);
  if (agent.evaluation !== null || prompt === 'compact') return;
  for (const message of agent.messages)
    if (message.turn === null && !text.includes(message.text))
      throw new Mismatch(`the message is missing: ${message.text}`);
}

/** The prompt with the path of the results in it, which only the program knows; their content is compared. */
function checkResultsFile(model: RunModel, agent: ModelAgent, text: string, expected: string): string {
  if (agent.results === null) return expected;
  const path = /file \[([^\]]*)\]/.exec(text)?.[1] ?? '';
  if (path === '' || agent.prompt !== 'state') return expected;
  if (!path.startsWith(`${model.runFolder}/results/${agent.id}-`))
    throw new Mismatch(`the results are not in the folder of the run: ${path}`);
  const results = agent.results.map((worker) => ({
    agent: worker.id,
    state: worker.state,
    status: worker.phase,
    variables: worker.variables,
    result: worker.result,
    error: worker.failure,
    cost_usd: worker.cost / 1_000_000,
    ...worktreeResult(worker),
  }));
  const written = model.resultFiles.get(path);
  if (!Array.isArray(written) || written.length !== results.length)
    throw new Mismatch(`there should be ${results.length} results: ${JSON.stringify(written)}`);
  for (const [index, result] of results.entries()) compare(result, written[index], `the result of ${result.agent}`);
  return expected.replace('{{results_file}}', path);
}

/** What the results say of a worker's worktree. */
function worktreeResult({ worktree }: ModelAgent): object {
  if (worktree === null || worktree.place === null || worktree.content === null) return {};
  const { kept, commits, dirty } = worktree.content;
  const { path, branch } = worktree.place;
  return { branch: kept ? branch : null, worktree: kept ? path : null, commits, dirty };
}

function noteKind(model: RunModel, agent: ModelAgent, prompt: string, isPrompt: boolean): void {
  const { real, model: preferred, repeatable } = model.def(agent.state);
  if (agent.evaluation !== null) return;
  note(agent, isPrompt ? 'prompt' : real === null ? 'script' : 'real-script');
  if (prompt === 'compact') note(agent, 'summary');
  if (preferred !== null) note(agent, 'model');
  if (repeatable) note(agent, 'repeatable');
  if (agent.input !== null && model.subject.input === agent.input) note(agent, 'run-input');
  if (Object.keys(model.subject.vars).length > 0) note(agent, 'vars');
  if (agent.results !== null) note(agent, 'results');
}
