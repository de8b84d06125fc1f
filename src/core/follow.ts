import { type Agent, FRESH_IN_STATE, newAgent } from './agent.ts';
import { type Heading, judge } from './answer.ts';
import type { Event, Step } from './event.ts';
import { workerId } from './ids.ts';
import { isPrompt, type Scope } from './names.ts';
import { implicitTag } from './policy.ts';
import type { Position } from './position.ts';
import { type Problem, problem } from './problem.ts';
import { reminder } from './reminder.ts';
import { joined, placeOf } from './roster.ts';
import { type Run, withAgent } from './run.ts';
import { TRANSITIONS } from './transitions/index.ts';
import type { Worker } from './transitions/transition.ts';

/** An answer and what is needed to judge it. */
export interface Answer {
  readonly text: string;
  readonly denials: readonly string[];
  readonly folders: Readonly<Record<string, string | null>>;
  readonly scope: Scope;
  readonly at: number;
}

/** Takes an agent where its answer says, or asks it again. */
export function follow(run: Run, agent: Agent, answer: Answer): Step {
  const policy = agent.rules?.policy ?? [];
  const { scope, folders, denials } = answer;
  const implicit = isPrompt(agent.state) && denials.length === 0 && !agent.mustSay;
  const verdict = judge(answer.text, { policy, scope, folders, resetStack: run.options.resetStack, implicit });
  if (verdict.kind === 'wrong') {
    const asked = denials.length > 0 && verdict.problem.kind === 'no_tag' && implicitTag(policy) !== undefined;
    return askAgain(run, agent, asked ? denied(denials) : verdict.problem, answer);
  }
  const place = { at: answer.at, agent: agent.id, state: agent.state };
  const warnings = verdict.warnings.map((message): Event => ({ kind: 'warning', ...place, message }));
  const moved = move(run, agent, verdict.headings, verdict.implicit, answer.at);
  return { run: moved.run, events: [...warnings, ...moved.events] };
}

/** Ends an agent that cannot go on; its siblings are left alone. */
export function failAgent(run: Run, agent: Agent, message: string, at: number): Step {
  return {
    run: withAgent(run, { ...agent, phase: { kind: 'failed', message } }),
    events: [{ kind: 'agent_failed', at, agent: agent.id, state: agent.state, message }],
  };
}

const denied = (tools: readonly string[]): Problem =>
  problem('tools_denied', `the use of ${[...new Set(tools)].join(', ')} was not permitted`);

/** A prompt is reminded as often as its state allows, without a policy once; a script only fails. */
function askAgain(run: Run, agent: Agent, wrong: Problem, { text, scope, at }: Answer): Step {
  if (!isPrompt(agent.state)) {
    const why = wrong.kind === 'no_tag' ? withOutput(wrong.message, text) : wrong.message;
    return failAgent(run, agent, `${agent.state}: no next step is found in its output: ${why}`, at);
  }
  const policy = agent.rules?.policy ?? [];
  const limit = policy.length === 0 ? Math.min(1, run.options.reminders) : run.options.reminders;
  const count = agent.reminders + 1;
  if (count > limit) {
    const tries = limit === 1 ? '1 reminder' : `${limit} reminders`;
    return failAgent(run, agent, `${agent.state}: no valid answer after ${tries}: ${wrong.message}`, at);
  }
  const prompt = { kind: 'reminder', text: reminder(wrong, policy, scope) } as const;
  const asked: Agent = {
    ...agent,
    reminders: count,
    mustSay: agent.mustSay || wrong.kind === 'tools_denied',
    phase: { kind: 'ready', prompt, since: run.seq },
  };
  const { kind, message } = wrong;
  const place = { at, agent: agent.id, state: agent.state };
  return { run: withAgent(run, asked), events: [{ kind: 'reminded', ...place, problem: kind, message, count, limit }] };
}

const MOST_SHOWN = 1_000;
const MOST_LINES = 5;

/** Who looks for a tag that is not there wants to see what is there instead: the last lines of it. */
function withOutput(message: string, text: string): string {
  const end = text.slice(-MOST_SHOWN).trim();
  if (end === '') return 'it printed nothing';
  const lines = end.split('\n').filter((line) => line.trim() !== '');
  return `${message}; it printed:\n${lines.slice(-MOST_LINES).join('\n')}`;
}

/** Makes the transitions of one answer: one, or forks and where their parent goes on. */
function move(run: Run, agent: Agent, headings: readonly Heading[], implicit: boolean, at: number): Step {
  let position: Position = positionOf(agent);
  let result: string | undefined;
  const workers: Worker[] = [];
  const events: Event[] = [];
  for (const { tag, go } of headings) {
    const made = TRANSITIONS[tag].follow(position, go);
    if (made.kind === 'end') {
      result = made.result;
      continue;
    }
    position = made.position;
    if (made.worker !== undefined) workers.push(made.worker);
    if (made.warning !== undefined)
      events.push({ kind: 'warning', at, agent: agent.id, state: agent.state, message: made.warning });
  }
  events.push({
    kind: 'transition',
    at,
    agent: agent.id,
    state: agent.state,
    tag: headings[0]?.tag ?? 'result',
    to: result === undefined ? position.state : null,
    implicit,
    session: agent.session?.kind === 'open' ? agent.session.id : null,
    depth: position.stack.length,
    costMicros: agent.stateMicros,
    input: result ?? position.input,
  });
  if (result !== undefined) {
    events.push({ kind: 'agent_ended', at, agent: agent.id, state: agent.state, result });
    return { run: withAgent(run, { ...agent, phase: { kind: 'ended', result } }), events };
  }
  const phase = { kind: 'ready', prompt: { kind: 'state' }, since: run.seq } as const;
  const forked = fork(run, { ...agent, ...position, ...FRESH_IN_STATE, phase }, workers, at);
  return { run: forked.run, events: [...events, ...forked.events] };
}

/** Brings the workers of an agent into the world. */
function fork(run: Run, parent: Agent, workers: readonly Worker[], at: number): Step {
  if (workers.length === 0) return { run: withAgent(run, parent), events: [] };
  const born: Agent[] = [];
  const names = new Set<string>();
  const isTaken = (id: string): boolean => names.has(id) || placeOf(run.agents, id) !== -1;
  let forks = parent.forks;
  for (const worker of workers) {
    const named = workerId(parent.id, forks, worker.state, isTaken);
    forks = named.forks;
    names.add(named.id);
    born.push(newAgent({ ...worker, id: named.id, parent: parent.id, since: run.seq }));
  }
  const { agents, ...rest } = withAgent(run, { ...parent, forks });
  return {
    run: { ...rest, agents: joined(agents, born) },
    events: born.map(({ id, state, cwd, input, variables }) => {
      return { kind: 'agent_started', at, agent: id, state, parent: parent.id, cwd, input, variables };
    }),
  };
}

function positionOf({ state, input, session, stack, cwd, model, effort }: Agent): Position {
  return { state, input, session, stack, cwd, model, effort };
}
