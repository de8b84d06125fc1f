import type { RunPlace } from '../../app/launcher.ts';
import { listUnfinishedFirst } from '../../app/list-runs.ts';
import type { StopOutcome, StopProgress } from '../../app/stop.ts';
import { EXIT } from '../../errors.ts';
import { formatObservedStatus } from '../../render/format.ts';
import { describeEndingTurns, describeNextSteps } from '../../render/next-steps.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import type { RunStorage } from '../../storage/storage.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';

/** `raymond stop [RUN] [--now]`: stops a run in another process and waits for that. Ctrl-C only ends the waiting. */
export const handleStop: CommandHandler = async ([requestedRun], options, terminal) =>
  withStorage(findDatabaseAddress(options, terminal), terminal, (place) =>
    stopIn(place, requestedRun, options.now === true, terminal),
  );

async function stopIn(
  { storage, launcher }: RunPlace,
  requestedRun: string | undefined,
  now: boolean,
  terminal: Terminal,
): Promise<number> {
  const id = requestedRun ?? (await findOnlyRunning(storage));
  if (id === null) {
    terminal.out('No run is running here.\n');
    return EXIT.completed;
  }
  const interrupt = new AbortController();
  const stopListening = terminal.onInterrupt(() => interrupt.abort());
  try {
    const outcome = await launcher.stop(id, {
      env: terminal.env,
      now,
      observe: (waiting) => terminal.err(`${describeWaiting(waiting)}\n`),
      signal: interrupt.signal,
    });
    for (const line of describeStopOutcome(outcome, storage.clock.now())) terminal.out(`${line}\n`);
    return interrupt.signal.aborted && outcome.kind !== 'stopped' ? EXIT.interrupted : EXIT.completed;
  } finally {
    stopListening();
  }
}

/** The run that is meant if none is named: the only one that is running; null if none is. */
async function findOnlyRunning(storage: RunStorage): Promise<string | null> {
  const live = (await listUnfinishedFirst(storage)).filter(
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

function describeStopOutcome({ kind, observed }: StopOutcome, nowMs: number): readonly string[] {
  const { id } = observed.run;
  const { waitsFor, commands } = describeNextSteps(observed, nowMs);
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
