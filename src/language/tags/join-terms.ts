import { shortenForMessage } from '../problem.ts';
import { DURATION_FORMS, parseDurationMs } from '../text/duration.ts';
import type { JoinTerms } from '../transitions/transition.ts';

/** Reads what a join waits for; `timeoutNext` is resolved already. A text says what is wrong with an attribute. */
export function readJoinTerms(
  attributes: Readonly<Record<string, string>>,
  timeoutNext: string | null,
): JoinTerms | string {
  const problem = Object.entries(attributes)
    .map(([name, value]) => joinAttributeProblem(name, value))
    .find((found) => found !== undefined);
  if (problem !== undefined) return problem;
  const { wait = 'all', timeout, timeout_next, cancel, group = null } = attributes;
  if (timeout !== undefined && timeout_next === undefined)
    return '`timeout` needs `timeout_next="STATE"`, which says where to continue then';
  if (timeout === undefined && timeout_next !== undefined) return '`timeout_next` needs a `timeout`';
  return {
    wait: wait === 'all' ? wait : wait === 'any' ? 1 : Number(wait),
    group,
    cancel: cancel === 'true',
    timeoutMs: timeout === undefined ? null : (parseDurationMs(timeout) ?? null),
    timeoutNext,
  };
}

/** How many workers a join can wait for, as a pattern for editors. */
export const WAIT_PATTERN = '^(all|any|[1-9][0-9]{0,8})$';

/** Explains why an attribute of a join cannot have this value; undefined if it can. */
export function joinAttributeProblem(name: string, value: string): string | undefined {
  const written = `not "${shortenForMessage(value)}"`;
  if (name === 'wait' && !new RegExp(WAIT_PATTERN).test(value))
    return `\`wait\` can be "all", "any" or a number of workers, ${written}`;
  if (name === 'cancel' && value !== 'true' && value !== 'false')
    return `\`cancel\` can be "true" or "false", ${written}`;
  if (name === 'timeout' && parseDurationMs(value) === undefined)
    return `\`timeout\` must be ${DURATION_FORMS}, ${written}`;
  return undefined;
}
