import { relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Run } from '../core/run.ts';
import { documentOf, exitCodeOf } from '../observers/document.ts';
import { harmless } from '../observers/harmless.ts';
import { ending, summaryOf } from '../observers/summary.ts';
import { Tally } from '../observers/tally.ts';
import { configFile, debugFolderOf, recordedEvents } from '../raymond/records.ts';
import type { Words } from './entry.ts';
import type { Terminal } from './terminal.ts';

/** How a run was found: whether anything was started at all, and where it is on record. */
export interface Attended {
  readonly started: boolean;
  readonly cwd: string;
  /** The agents whose trouble the user has read just now. */
  readonly justTold: ReadonlySet<string>;
}

/** What there is to say when a run is over: results on stdout, the summary on stderr. Gives the exit code. */
export async function report(run: Run, attended: Attended, words: Words, terminal: Terminal): Promise<number> {
  const { started, cwd, justTold } = attended;
  const { out, err, screen, outIsScreen = false } = terminal;
  const events = words.json || (started && !words.quiet) ? await recordedEvents(run.id, cwd) : [];
  const results = words.events ? '' : words.json ? `${JSON.stringify(documentOf(run, events))}\n` : resultsOf(run);
  // Where both are read on one screen, the results stand apart from the story and the summary.
  const apart = results !== '' && outIsScreen && screen !== null && !words.quiet ? '\n' : '';
  err(apart);
  out(outIsScreen ? harmless(results) : results);
  err(apart);

  const page = {
    columns: screen?.size().columns ?? null,
    colour: screen?.colour ?? false,
    now: Date.now(),
    // Results on the same screen stand between what was told and what is told now.
    justTold: apart === '' ? justTold : NOBODY,
    elsewhere: configFile(cwd) === configFile(terminal.cwd) ? null : shortest(cwd, terminal.cwd),
  };
  if (started && !words.quiet) {
    const tally = new Tally();
    for (const event of events) tally.tell(event);
    const debugFolder = run.options.debug ? shortest(await debugFolderOf(run, cwd), terminal.cwd) : null;
    err(summaryOf(run, tally, { ...page, debugFolder }));
  } else {
    if (!words.quiet) err('This run has ended already; nothing was started.\n');
    err(
      ending(run, page, true)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
  await tellFault(run.id, terminal);
  return exitCodeOf(run);
}

const NOBODY: ReadonlySet<string> = new Set();

/** What could not be printed is on record all the same, and the run is what it is. */
async function tellFault(id: string, { err, takeFault }: Terminal): Promise<void> {
  // Streams tell what went wrong a moment later.
  await setImmediate();
  const fault = takeFault?.() ?? null;
  if (fault === null) return;
  err(`What was to be printed could not be written (${fault}); \`raymond status ${id}\` shows it.\n`);
}

/** One result as it is; several under the names of their agents, that of the first agent last: it sums the others up. */
function resultsOf({ agents }: Run): string {
  const ordered = agents.toSorted((a, b) => Number(a.parent === null) - Number(b.parent === null));
  const results = ordered.flatMap(({ id, phase }) => (phase.kind === 'ended' ? [{ id, text: phase.result }] : []));
  return results.map(({ id, text }) => `${agents.length === 1 ? '' : `[${id}]\n`}${text}\n`).join('');
}

/** A path as it is written in this folder, unless that is longer. */
function shortest(path: string, cwd: string): string {
  const here = relative(cwd, path);
  return here.length < path.length ? here : path;
}
