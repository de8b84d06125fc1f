import { IS_ALIVE } from './liveness.ts';

/*
 * Who drives a run, as all who look at runs see it: the columns of its worker, and what they say in words.
 */

/** The columns of a run's worker, of a run joined with it. */
export const DRIVER_COLUMNS = `driver, host, pid, slots,
  coalesce(waits_for, (
    select 'the worker ' || remote_turns.node || ', which cannot take a turn: ' || problem from raymond.remote_turns
    where run = runs.id and problem is not null order by agent limit 1
  )) as waits_for,
  coalesce(${IS_ALIVE}, false) as is_alive, coalesce(draining, false) as is_leaving`;

/** Joins a run with its worker. */
export const WITH_DRIVER = 'left join raymond.nodes on name = driver';

/** A run's worker. */
export interface DriverRow {
  readonly driver: string | null;
  readonly waits_for: string | null;
  readonly host: string | null;
  readonly pid: number | null;
  readonly slots: number | null;
  readonly is_alive: boolean;
  readonly is_leaving: boolean;
}

/** The reason why a run waits, to follow "waits for"; null if it does not. */
export function describeWait(row: DriverRow): string | null {
  const { driver, waits_for: waitsFor, is_alive: isAlive, is_leaving: isDraining } = row;
  if (waitsFor !== null) return waitsFor;
  if (isAlive) return isDraining ? `the next start of its worker ${driver}, which begins nothing more` : null;
  return driver === null ? 'a worker' : `its worker ${driver}, which is not running`;
}
