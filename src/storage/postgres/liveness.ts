/*
 * SQL about the heartbeats of nodes. A node that was silent for longer than `worker_deadline`, by the clock of the database, is gone.
 */

const DEADLINE = '(select worker_deadline from raymond.about)';

/** True if a node was heard of within a part of the deadline. If the database's clock was set back, a beat of the future says nothing. */
export const isNear = (part: number): string =>
  `heartbeat_at between now() - ${DEADLINE} / ${part} and now() + ${DEADLINE} / ${part}`;

/** True if a row of `nodes` is that of a live node; one that has ended keeps its row. */
export const IS_ALIVE = `(token <> '' and ${isNear(1)})`;

/** The names of all nodes that are not gone: a short absence, as between an end and the next start, does not count. */
export const NOT_GONE = `(select name from raymond.nodes where ${isNear(1)})`;

/** True if a row of `nodes` is that of a node that may judge others. */
export const IS_STEADY = `(${isNear(2)} and steady_since < now() - ${DEADLINE})`;
