import { EXIT } from '../../errors.ts';
import { formatObservedStatus } from '../../events/format.ts';
import { describeEndingTurns, describeNextSteps } from '../../events/next-steps.ts';
import { listRuns } from '../../runtime/list-runs.ts';
import type { RunLocation } from '../../runtime/open-runs.ts';
import { type StopOutcome, type StopProgress, stopRun } from '../../runtime/stop.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { findDatabaseAddress, type RunPlace, withRunPlace } from '../database-option.ts';

/** `raymond stop [RUN] [--now]`: stops a run in another process and waits for that. Ctrl-C only ends the waiting. */
export const handleStop: CommandHandler = async ([requestedRun], options, terminal) =>
  withRunPlace(findDatabaseAddress(options, terminal), terminal, (place) =>
    stopIn(place, requestedRun, options.now === true, terminal),
  );

async function stopIn(
  { location, database }: RunPlace,
  requestedRun: string | undefined,
  now: boolean,
  terminal: Terminal,
): Promise<number> {
  const id = requestedRun ?? (await findOnlyRunning(location));
  if (id === null) {
    terminal.out('No run is running here.\n');
    return EXIT.completed;
  }
  const interrupt = new AbortController();
  const stopListening = terminal.onInterrupt(() => interrupt.abort());
  try {
    const stop = database?.stop ?? stopRun;
    const outcome = await stop(id, {
      cwd: terminal.cwd,
      env: terminal.env,
      now,
      observe: (waiting) => terminal.err(`${describeWaiting(waiting)}\n`),
      signal: interrupt.signal,
    });
    for (const line of describeStopOutcome(outcome)) terminal.out(`${line}\n`);
    return interrupt.signal.aborted && outcome.kind !== 'stopped' ? EXIT.interrupted : EXIT.completed;
  } finally {
    stopListening();
  }
}

/** The run that is meant if none is named: the only one that is running; null if none is. */
async function findOnlyRunning(location: RunLocation): Promise<string | null> {
  const live = (await listRuns(location)).filter(
    (run) => run.kind === 'run' && (run.observedStatus === 'running' || run.observedStatus === 'stopping'),
  );
  const [only, second] = live;
  if (second === undefined) return only?.id ?? null;
  throw usageError(`several runs are running: ${live.map(({ id }) => id).join(', ')}`, 'Name one: raymond stop RUN');
}

function describeWaiting({ kind, observed, mode: stage }: StopProgress): string {
  const { run, observedStatus, owner } = observed;
  const { id } = run;
  const process = owner?.pid == null ? '' : ` ${owner.pid}`;
  if (kind === 'not_responding') return `Process${process} does not respond. If it is suspended: kill -CONT${process}`;
  const subject =
    observedStatus === 'crashed'
      ? `The process${process} of ${id} has died; the run is resumed only to be stopped`
      : `${id} (process${process}) is stopping`;
  if (stage === 'now') return `${subject}: running turns are ended.`;
  const endingTurns = describeEndingTurns(run.agents);
  return endingTurns === null ? `${subject}.` : `${subject}: ${endingTurns}.\nTo end it now: raymond stop ${id} --now`;
}

function describeStopOutcome({ kind, observed }: StopOutcome): readonly string[] {
  const { id } = observed.run;
  const { waitsFor, commands } = describeNextSteps(observed, Date.now());
  const commandLines = commands.map(({ purpose, command }) => `${purpose}: ${command}`);
  switch (kind) {
    case 'idle':
      return [`${id} is not running: ${formatObservedStatus(observed.observedStatus)}.`, ...commandLines];
    case 'stopping':
      if (observed.waitsFor !== undefined) return [`${id} stops as soon as there is ${observed.waitsFor}.`];
      return [`${id} will stop by itself.`, `To end it now: raymond stop ${id} --now`];
    case 'not_stopped':
      return [`${id} is left as it was: ${waitsFor.join(' ')}`, ...commandLines];
    case 'stopped':
      return [`${id} has stopped: ${formatObservedStatus(observed.observedStatus)}.`, ...commandLines];
  }
}
