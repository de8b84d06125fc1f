import type { Agent, DonePhase, Phase } from './agent.ts';

const DONE: ReadonlySet<Phase['kind']> = new Set<DonePhase['kind']>(['ended', 'failed', 'limited', 'cancelled']);

/** True if an agent in this phase is done as far as a join is concerned. */
export const isDonePhase = (phase: Phase): phase is DonePhase => DONE.has(phase.kind);

/** True if an agent is done as far as a join is concerned. */
export const isDone = ({ phase }: Pick<Agent, 'phase'>): boolean => isDonePhase(phase);

/** True if an agent has ended for good: with a result, or otherwise and a join has taken note of that. */
export const isSettled = ({ phase, joinedBy }: Pick<Agent, 'phase' | 'joinedBy'>): boolean =>
  phase.kind === 'ended' || (joinedBy !== null && isDonePhase(phase));
