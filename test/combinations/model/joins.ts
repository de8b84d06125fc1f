import type { TagDef } from '../case.ts';
import type { Observation } from '../observation.ts';
import { enterState, isDone, type ModelAgent, type ModelJoin } from './model-agent.ts';
import { expect, note, type RunModel } from './run-model.ts';

const HOUR_MS = 3_600_000;

/** Lets an agent wait for its workers. It has left its state already. */
export function startJoin(model: RunModel, agent: ModelAgent, { target, attributes }: TagDef): void {
  const group = attributes.group ?? null;
  const workers = model.openWorkers(agent, group);
  const done = workers.filter(isDone);
  const wait = attributes.wait ?? 'all';
  const wanted = wait === 'all' ? workers.length : Math.min(wait === 'any' ? 1 : Number(wait), workers.length);
  const id = model.newJoinId();
  for (const worker of done) worker.joinedBy = id;
  const to = model.named(agent, target);
  const timeoutNext = attributes.timeout_next === undefined ? null : model.named(agent, attributes.timeout_next);
  if (workers.length === 0) agent.warnings.push('nothing-to-join');
  expect(agent, 'joining', { workers: workers.length, done: done.length, wanted, group }, ({ at }) => {
    agent.phase = 'joining';
    agent.join = {
      id,
      state: to,
      timeoutNext,
      untilMs: attributes.timeout === undefined ? null : at + Number.parseInt(attributes.timeout, 10) * HOUR_MS,
      group,
      cancel: attributes.cancel === 'true',
      workers: workers.length,
      wanted,
      timedOut: false,
      isOver: false,
    };
    if (done.length >= wanted) conclude(model, agent, agent.join);
  });
}

/** Notes the end that must be observed of an agent: if it has a worktree, that is left first. */
export function expectEnd(
  agent: ModelAgent,
  kind: string,
  fields: Readonly<Record<string, unknown>>,
  then: (observed: Observation) => void,
): void {
  if (agent.worktree?.isOpen !== true && agent.phase !== 'opening') {
    expect(agent, kind, fields, then);
    return;
  }
  agent.phase = 'leaving';
  agent.leaving = { kind, fields, then };
  expect(agent, 'worktree_leaving', {});
}

/** An agent is done: its parent may have waited for it, or another agent may have cancelled it. */
export function endAgent(
  model: RunModel,
  agent: ModelAgent,
  phase: 'ended' | 'failed' | 'limited' | 'cancelled',
  text: string,
): void {
  agent.phase = phase;
  agent.result = phase === 'ended' ? text : null;
  agent.failure = phase === 'ended' ? null : text;
  if (phase !== 'ended') note(agent, `${phase}-end`);
  // Joins look at those that a resume has let end once it has resumed all of them.
  if (model.isResuming()) model.ends.push(() => settleEnd(model, agent));
  else settleEnd(model, agent);
}

function settleEnd(model: RunModel, agent: ModelAgent): void {
  if (agent.joinedBy !== null) {
    for (const joiner of model.agents.values())
      if (joiner.phase === 'joining' && joiner.join?.isOver === true && joiner.join.id === agent.joinedBy)
        finishIfFree(model, joiner, joiner.join);
    return;
  }
  const parent = agent.parent === null ? undefined : model.agents.get(agent.parent);
  const join = parent?.phase === 'joining' ? parent.join : null;
  if (parent === undefined || join === null || (join.group !== null && agent.variables.group !== join.group)) return;
  agent.joinedBy = join.id;
  if (join.isOver) return;
  const done = [...model.agents.values()].filter(
    ({ parent: of, joinedBy }) => of === parent.id && joinedBy === join.id,
  ).length;
  if (done >= join.wanted) conclude(model, parent, join);
}

/** The reason for which a cancelled agent has no result. */
export const cancelText = (by: unknown): string => `the join of ${by} did not need it any more`;

/** Enough workers are done, or the time is over: with `cancel`, the others are ended before the agent continues. */
export function conclude(model: RunModel, agent: ModelAgent, join: ModelJoin): void {
  join.isOver = true;
  if (join.cancel) {
    const below = new Set<string>();
    for (const each of model.agents.values()) {
      const isUnneeded = model.openWorkers(agent, join.group).includes(each) && !isDone(each);
      if (!isUnneeded && !below.has(each.parent ?? '')) continue;
      below.add(each.id);
      if (isDone(each)) continue;
      each.joinedBy = join.id;
      if (each.phase === 'running') {
        each.phase = 'cancelling';
        expect(each, 'cancelling', { by: agent.id });
      } else if (each.phase === 'opening') {
        expectEnd(each, 'agent_cancelled', { by: agent.id }, () =>
          endAgent(model, each, 'cancelled', cancelText(agent.id)),
        );
      } else if (each.worktree?.isOpen === true && each.phase !== 'leaving' && each.phase !== 'cancelling') {
        expectEnd(each, 'agent_cancelled', { by: agent.id }, () =>
          endAgent(model, each, 'cancelled', cancelText(agent.id)),
        );
      } else if (each.phase !== 'cancelling' && each.phase !== 'leaving') {
        expect(each, 'agent_cancelled', { by: agent.id });
        each.phase = 'cancelled';
        each.failure = cancelText(agent.id);
        note(each, 'cancelled-end');
      }
    }
  }
  finishIfFree(model, agent, join);
}

function finishIfFree(model: RunModel, agent: ModelAgent, join: ModelJoin): void {
  const isBusy = [...model.agents.values()].some(
    ({ phase, joinedBy }) => (phase === 'cancelling' || phase === 'leaving') && joinedBy === join.id,
  );
  if (isBusy) return;
  const to = join.timedOut ? (join.timeoutNext ?? join.state) : join.state;
  expect(agent, 'joined', { to, timedOut: join.timedOut }, () => {
    const { input } = agent;
    enterState(agent, to, input);
    agent.join = null;
    agent.results = [...model.agents.values()].filter(
      ({ parent, joinedBy }) => parent === agent.id && joinedBy === join.id,
    );
    if (agent.results.some(({ phase }) => phase === 'failed')) note(agent, 'joined-failure');
  });
}
