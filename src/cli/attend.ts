import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { recordedEvents } from '../raymond/records.ts';
import type { Place, Running } from '../raymond/running.ts';
import type { Words } from './entry.ts';
import { logTo } from './log-file.ts';
import { News } from './news.ts';
import { report } from './report.ts';
import type { Show } from './show.ts';
import { showFor } from './show-for.ts';
import type { Terminal } from './terminal.ts';
import { usage } from './usage.ts';
import { textOf } from './words.ts';

/** Sets a run going, shows it, and waits for its end. */
export async function attend(
  setOff: (place: Place) => Promise<Running>,
  words: Words,
  terminal: Terminal,
): Promise<number> {
  if (words.json && words.events) throw usage('--json and --events both want stdout: choose one');
  const show = showFor(words, terminal);
  const log = logTo(textOf(words, 'logFile'), terminal.cwd, show.say);
  const news = new News();
  /** Where the run is on record: a new one may be told to work elsewhere. */
  let cwd = terminal.cwd;
  let started = false;
  const observe = (event: Event): void => {
    started = true;
    if (event.kind === 'agent_started' && event.parent === null) cwd = event.cwd;
    if (!words.quiet) news.tell(event);
    apart(
      () => log(event),
      () => words.events && terminal.out(`${JSON.stringify(event)}\n`),
      () => isUnguarded(event) && show.say(UNGUARDED),
      () => event.kind === 'run_resumed' && show.recall?.(pastOf(running.id, cwd)),
      () => show.observe(event),
    );
  };
  const place = { observe, ...(show.watch !== undefined && { watch: show.watch }) };
  let running: Running;
  try {
    running = await setOff(place);
    const run = await untilEnd(running, show, terminal);
    show.close();
    return await report(run, { started, cwd, justTold: news.troubled }, words, terminal);
  } finally {
    show.close();
  }
}

/** Does all of it, whatever becomes of each; a run does not care who watches it. */
function apart(...acts: readonly (() => unknown)[]): void {
  for (const act of acts) {
    try {
      act();
    } catch {}
  }
}

/** A first Ctrl-C lets turns finish, a second ends them. */
async function untilEnd(running: Running, show: Show, { onInterrupt }: Terminal): Promise<Run> {
  let interrupts = 0;
  const stopListening = onInterrupt(() => {
    interrupts += 1;
    show.interrupt(interrupts);
    if (interrupts === 1) running.stop('interrupted');
    else running.kill();
  });
  try {
    return await running.finished;
  } finally {
    stopListening();
  }
}

/** What happened to a run before it was taken up for the last time. */
async function pastOf(id: string, cwd: string): Promise<readonly Event[]> {
  const events = await recordedEvents(id, cwd);
  return events.slice(
    0,
    events.findLastIndex(({ kind }) => kind === 'run_resumed'),
  );
}

const isUnguarded = (event: Event): boolean =>
  (event.kind === 'run_started' || event.kind === 'run_resumed') && event.options.skipPermissions;

const UNGUARDED =
  'warning: Claude Code may do anything without asking. Use this only with workflows you trust, in a place you can lose.';
