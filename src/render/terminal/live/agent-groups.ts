import type { AgentStatus } from '../../../core/run/status.ts';
import { findTurnWait, type TurnTraffic, type TurnWait } from '../../../core/turns/turn-wait.ts';
import { isPrompt } from '../../../language/state-names.ts';
import type { AgentView, LiveView } from './view.ts';

/** How many agents of a state are doing what. */
export interface StateCounts {
  readonly state: string;
  readonly running: number;
  readonly waiting: number;
  readonly failed: number;
  readonly paused: number;
  /** Those that have ended there. */
  readonly done: number;
}

/** The agents of a view by what they are doing, found in one pass for each frame. */
export interface AgentGroups {
  /** Those that continue: running first, then queued, asking, at their worktree, sleeping, joining and waiting ones, each in the order of their start. */
  readonly live: readonly AgentView[];
  readonly running: number;
  readonly waiting: number;
  readonly failed: number;
  readonly paused: number;
  readonly traffic: TurnTraffic;
  /** How many wait for a Claude turn, by what keeps them from it. */
  readonly turnWaits: ReadonlyMap<TurnWait, number>;
  /** Those that wait for the answer of a person. */
  readonly asking: readonly AgentView[];
  /** Those that wait until a time. */
  readonly sleepers: readonly AgentView[];
  /** In the order in which agents came to the states. */
  readonly states: readonly StateCounts[];
}

type CountedPhase = Exclude<keyof StateCounts, 'state' | 'done'>;

const COUNTED_AS: Readonly<Record<AgentStatus, CountedPhase | null>> = {
  running: 'running',
  queued: 'waiting',
  ready: 'waiting',
  sleeping: 'waiting',
  worktree: 'waiting',
  failed: 'failed',
  paused: 'paused',
  asking: 'waiting',
  limited: 'paused',
  withheld: 'paused',
  joining: 'waiting',
  cancelling: 'running',
  cancelled: null,
  ended: null,
};

/** The group that an agent in this phase counts for; null for those that have ended. */
export const countedAs = (phase: AgentStatus): CountedPhase | null => COUNTED_AS[phase];

/** The phases of agents that are shown one by one. */
const LIVE_PHASES = ['running', 'cancelling', 'queued', 'asking', 'worktree', 'sleeping', 'ready', 'joining'] as const;

type LivePhase = (typeof LIVE_PHASES)[number];

const isShown = (phase: AgentStatus): phase is LivePhase => LIVE_PHASES.some((each) => each === phase);

/** Groups the agents of a view. Once the run stops, only those whose turn still runs continue. */
export function groupAgents({
  agents,
  stop,
  parallel: fullParallel,
  loweredParallel,
  parallelScripts,
  budgetMicros,
  endedByState,
}: LiveView): AgentGroups {
  const parallel = loweredParallel ?? fullParallel;
  const states = new Map<string, { -readonly [Key in keyof StateCounts]: StateCounts[Key] }>();
  const stateOf = (state: string) => {
    const counts = states.get(state) ?? { state, running: 0, waiting: 0, failed: 0, paused: 0, done: 0 };
    states.set(state, counts);
    return counts;
  };
  const totals = { running: 0, waiting: 0, failed: 0, paused: 0 };
  const byPhase: Record<LivePhase, AgentView[]> = {
    running: [],
    cancelling: [],
    queued: [],
    asking: [],
    worktree: [],
    sleeping: [],
    ready: [],
    joining: [],
  };
  for (const agent of agents.values()) {
    const { phase, state } = agent;
    const counted = COUNTED_AS[phase];
    if (counted !== null) {
      totals[counted] += 1;
      stateOf(state)[counted] += 1;
    }
    if (phase === 'running' || phase === 'cancelling' || phase === 'queued') byPhase[phase].push(agent);
    else if (stop === null && isShown(phase)) byPhase[phase].push(agent);
  }
  for (const [state, done] of endedByState) stateOf(state).done = done;
  // A queued turn counts for the run's own limits.
  const underWay = [...byPhase.running, ...byPhase.cancelling, ...byPhase.queued];
  const running = underWay.filter(({ state, evaluator }) => isPrompt(evaluator ?? state)).length;
  const traffic: TurnTraffic = {
    isHeld: byPhase.sleeping.some(({ wait }) => wait?.holdsAll === true),
    running,
    parallel,
    hasBudget: budgetMicros !== null,
    runningScripts: underWay.length - running,
    parallelScripts,
  };
  const turnWaits = new Map<TurnWait, number>();
  for (const { state } of byPhase.ready) {
    const turnWait = findTurnWait(state, traffic);
    if (turnWait !== null) turnWaits.set(turnWait, (turnWaits.get(turnWait) ?? 0) + 1);
  }
  return {
    ...totals,
    live: [
      ...underWay,
      ...byPhase.asking,
      ...byPhase.worktree,
      ...byPhase.sleeping,
      ...byPhase.joining,
      ...byPhase.ready,
    ],
    traffic,
    turnWaits,
    asking: byPhase.asking,
    sleepers: byPhase.sleeping,
    states: [...states.values()],
  };
}
