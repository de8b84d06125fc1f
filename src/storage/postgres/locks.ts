/*
 * The locks of the database that are not those of rows. Who needs several takes them in the order in which they stand here, and
 * before the row of a run: two who waited for each other would both fail.
 */

/** Held while the tables are made. */
export const INIT_LOCK = 7_296_154_011;

/** Held by one sweeper at a time. */
export const SWEEP_LOCK = 7_296_154_014;

/** Held while a worker is chosen, so that many choices at once are spread over the workers. */
export const PLACE_LOCK = 7_296_154_012;

/** Shared by those who add a run; held by who removes workflows that no run uses. */
export const WORKFLOWS_LOCK = 7_296_154_013;
