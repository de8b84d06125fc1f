import { EXIT } from '../../errors.ts';
import { comingToAnEnd, outlookOf } from '../../observers/outlook.ts';
import { runsHere } from '../../raymond/runs.ts';
import { type StopOutcome, type StopWaiting, stopRun } from '../../raymond/stop.ts';
import type { Carry } from '../entry.ts';
import { standingWord } from '../standings.ts';
import { usage } from '../usage.ts';

/** `raymond stop [RUN] [--now]`: stops a run in another process and waits for that. Ctrl-C only ends the waiting. */
export const stop: Carry = async ([wanted], { now }, terminal) => {
  const id = wanted ?? (await onlyOne(terminal.cwd));
  if (id === null) {
    terminal.out('No run is running here.\n');
    return EXIT.completed;
  }
  const patience = new AbortController();
  const stopListening = terminal.onInterrupt(() => patience.abort());
  try {
    const outcome = await stopRun(id, {
      cwd: terminal.cwd,
      env: terminal.env,
      now: now === true,
      observe: (waiting) => terminal.err(`${wordsWhile(waiting)}\n`),
      signal: patience.signal,
    });
    for (const line of wordsFor(outcome)) terminal.out(`${line}\n`);
    return patience.signal.aborted && outcome.kind !== 'stopped' ? EXIT.interrupted : EXIT.completed;
  } finally {
    stopListening();
  }
};

/** The run that must be meant when none is named; null if none is running. */
async function onlyOne(cwd: string): Promise<string | null> {
  const live = (await runsHere(cwd)).filter(
    (run) => run.kind === 'run' && (run.standing === 'running' || run.standing === 'stopping'),
  );
  const [only, second] = live;
  if (second === undefined) return only?.id ?? null;
  throw usage(`which of these is to stop: ${live.map(({ id }) => id).join(', ')}?`, 'Write `raymond stop RUN`.');
}

function wordsWhile({ kind, seen, stage }: StopWaiting): string {
  const { run, standing, owner } = seen;
  const { id } = run;
  const process = owner?.pid == null ? '' : ` ${owner.pid}`;
  if (kind === 'unheard') return `Process${process} does not respond. If it is suspended: kill -CONT${process}`;
  const who =
    standing === 'crashed'
      ? `The process${process} of ${id} is gone; the run is taken up to be stopped`
      : `${id} (process${process}) is stopping`;
  if (stage === 'now') return `${who}: turns under way are ended.`;
  const ending = comingToAnEnd(run.agents);
  return ending === null ? `${who}.` : `${who}: ${ending}.\nTo end it now: raymond stop ${id} --now`;
}

function wordsFor({ kind, seen }: StopOutcome): readonly string[] {
  const { id } = seen.run;
  const { waitsFor, commands } = outlookOf(seen, Date.now());
  const goOn = commands.map(({ purpose, command }) => `${purpose}: ${command}`);
  switch (kind) {
    case 'idle':
      return [`${id} is not running: ${standingWord(seen.standing)}.`, ...goOn];
    case 'stopping':
      return [`${id} goes on stopping by itself.`, `To end it now: raymond stop ${id} --now`];
    case 'left':
      return [`${id} is left as it was: ${waitsFor.join(' ')}`, ...goOn];
    case 'stopped':
      return [`${id} has stopped: ${standingWord(seen.standing)}.`, ...goOn];
  }
}
