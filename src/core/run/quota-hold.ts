import { sleep } from '../answers/state-failure.ts';
import { waitKindOf } from '../turns/due.ts';
import { waitsUntil } from '../turns/turn-wait.ts';
import type { Agent } from './agent.ts';
import { countPhases } from './agent-index.ts';
import type { Event, Step } from './event.ts';
import { dropPassedWindows, findReserveHold, mergeQuota, parallelTurns, type Quota } from './quota.ts';
import { type Run, withAgents } from './run.ts';

/** The run once it has heard of its quota; null stands for an account that has none. */
export function withQuota(run: Run, report: Quota | null, at: number): Step {
  const quota = report === null ? null : dropPassedWindows(mergeQuota(run.quota, report, at), at);
  return changeQuota(run, quota, at);
}

/**
 * Lets a run take note of what a step means for its quota: windows that are empty again are forgotten, nothing starts from
 * the reserve, and as long as Claude turns are held somebody sleeps until they may start.
 */
export function settleQuota({ run, events }: Step, at: number): Step {
  if (run.quota === null && run.hold === null) return { run, events };
  const parts = [changeQuota(run, dropPassedWindows(run.quota, at), at)];
  const apply = (change: (now: Run) => Step): void => {
    parts.push(change(parts.at(-1)?.run ?? run));
  };
  apply((now) => (now.hold?.reserve === true && findReserveHold(now) === null ? liftHold(now, at) : unchanged(now)));
  apply((now) => holdForReserve(now, at));
  apply((now) => sleepThroughHold(now, at));
  return {
    run: parts.at(-1)?.run ?? run,
    events: [...events, ...parts.flatMap((part) => part.events)],
  };
}

const unchanged = (run: Run): Step => ({ run, events: [] });

function changeQuota(run: Run, quota: Quota | null, at: number): Step {
  if (quota === run.quota) return unchanged(run);
  const next = { ...run, quota };
  const parallel = loweredParallel(next);
  const isWorthTelling = describe(run.quota) !== describe(quota) || parallel !== loweredParallel(run);
  const event: Event = { kind: 'quota', at, quota, parallel };
  return { run: next, events: isWorthTelling ? [event] : [] };
}

/** How many Claude turns may run at once, if that is less than otherwise; else null. */
function loweredParallel(run: Run): number | null {
  const parallel = parallelTurns(run);
  return parallel === run.options.parallel ? null : parallel;
}

/** The quota as shown to people, in whole percent. */
const describe = (quota: Quota | null): string =>
  JSON.stringify([
    quota?.account,
    Object.entries(quota?.windows ?? {}).map(([type, { percent, status, resetsAtMs }]) => {
      return [type, percent === null ? null : Math.floor(percent), status, resetsAtMs];
    }),
  ]);

/** Keeps Claude turns from starting, or stops the run, if the next one would use what is reserved. */
function holdForReserve(run: Run, at: number): Step {
  if (run.hold !== null || run.stop !== null) return unchanged(run);
  const hold = findReserveHold(run);
  if (hold === null || firstInLine(run) === undefined) return unchanged(run);
  const { untilMs, message } = hold;
  if (waitsUntil(run.options, untilMs, at)) return unchanged({ ...run, hold: { untilMs, message, reserve: true } });
  const stop = { kind: 'usage_limit', untilMs, message } as const;
  return { run: { ...run, stop }, events: [{ kind: 'run_stopping', at, stop }] };
}

/** A sleeping agent lifts the hold when it wakes; if nobody does, such as after a join that needed the sleeper no more, the next in line sleeps. */
function sleepThroughHold(run: Run, at: number): Step {
  const { hold, stop, agents } = run;
  if (hold === null || stop !== null || countPhases(agents).sleeping > 0) return unchanged(run);
  const agent = firstInLine(run);
  if (agent?.phase.kind !== 'ready') return unchanged(run);
  const { untilMs, message } = hold;
  const phase = { why: 'usage_limit', untilMs, prompt: agent.phase.prompt } as const;
  return sleep(run, agent, phase, { kind: 'usage_limit', message }, at, 0);
}

/** Lets all continue for whom the reserve was there. */
function liftHold(run: Run, at: number): Step {
  const sleepers = run.agents.filter(
    ({ phase }) => phase.kind === 'sleeping' && phase.why === 'usage_limit' && phase.untilMs === run.hold?.untilMs,
  );
  const ready = sleepers.map((agent): Agent => {
    const prompt = agent.phase.kind === 'sleeping' ? agent.phase.prompt : ({ kind: 'state' } as const);
    return { ...agent, phase: { kind: 'ready', prompt, since: run.seq } };
  });
  return {
    run: withAgents({ ...run, hold: null }, ready),
    events: ready.map(({ id, state }) => ({ kind: 'woken', at, agent: id, state }) as const),
  };
}

/** The agent that has waited longest for a Claude turn. */
function firstInLine({ agents }: Run): Agent | undefined {
  let first: Agent | undefined;
  for (const agent of agents) {
    const wait = waitKindOf(agent);
    if (wait !== 'ongoing' && wait !== 'inLine') continue;
    if (first === undefined || since(agent) < since(first)) first = agent;
  }
  return first;
}

const since = ({ phase }: Agent): number => (phase.kind === 'ready' ? phase.since : 0);
