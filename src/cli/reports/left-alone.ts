import type { RunListEntry, RunSummary } from '../../app/list-runs.ts';
import type { ObservedStatus } from '../../core/run/observed-status.ts';
import { formatObservedStatus } from '../../render/format.ts';

const MAX_LISTED = 5;

/** Says which unfinished runs `recover` does not resume, and why: a line for each reason. */
export function describeLeftAlone(runs: readonly RunListEntry[]): readonly string[] {
  const readable = runs.filter((run) => run.kind === 'run' && !run.isCutShort) as readonly RunSummary[];
  const withStatus = (...statuses: readonly ObservedStatus[]): readonly RunSummary[] =>
    readable.filter(({ observedStatus }) => statuses.includes(observedStatus));
  const reasons: readonly (readonly [why: string, runs: readonly string[]])[] = [
    ['a process drives it', withStatus('running', 'stopping').map(({ id, owner }) => `${id} (${owner?.pid ?? '?'})`)],
    [
      'its process cannot be checked from here; if it is gone, `raymond resume RUN --take-over`',
      withStatus('elsewhere').map(({ id, owner }) => `${id} (${owner?.pid ?? '?'} on ${owner?.host ?? '?'})`),
    ],
    [
      'a turn of it was cut short, and may have done half its work; `raymond recover --resume --retry` takes it again',
      runs.flatMap((run) => (run.kind === 'run' && run.isCutShort ? [`${run.id} (paused)`] : [])),
    ],
    [
      'its process did not die; `raymond status RUN` says what it waits for and how to continue',
      withStatus('paused', 'interrupted', 'budget_exceeded', 'iteration_limit').map(
        ({ id, observedStatus }) => `${id} (${formatObservedStatus(observedStatus)})`,
      ),
    ],
    [
      'it waits for the answer of a person; `raymond asks` shows the questions',
      withStatus('waiting').map(({ id }) => id),
    ],
    ['it cannot be read; `raymond list` says why', runs.flatMap((run) => (run.kind === 'unreadable' ? [run.id] : []))],
  ];
  return reasons.flatMap(([why, names]) => (names.length === 0 ? [] : [`Left alone: ${listNames(names)}: ${why}.`]));
}

function listNames(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return `${names.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
