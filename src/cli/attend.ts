import type { Event } from '../core/event.ts';
import type { Agent, Run } from '../core/run.ts';
import { EXIT } from '../errors.ts';
import { documentOf, exitCodeOf } from '../observers/document.ts';
import { recordedEvents } from '../raymond/records.ts';
import type { Place, Running } from '../raymond/running.ts';
import type { Words } from './catalogue.ts';
import { logTo } from './log-file.ts';
import { type Show, showFor } from './show.ts';
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
  const log = logTo(textOf(words, 'logFile'), terminal.cwd);
  const show = showFor(words, terminal);
  const told = new Set<string>();
  const observe = (event: Event): void => {
    log(event);
    if (words.events) terminal.out(`${JSON.stringify(event)}\n`);
    if (isUnguarded(event)) show.say(UNGUARDED);
    if (!words.quiet && (event.kind === 'agent_paused' || event.kind === 'agent_failed')) told.add(event.agent);
    show.observe(event);
  };
  try {
    const running = await setOff({ observe, ...(show.watch !== undefined && { watch: show.watch }) });
    const run = await untilEnd(running, show, terminal);
    show.close();
    return await report(run, words, told, terminal);
  } finally {
    show.close();
  }
}

/** A first Ctrl-C lets turns finish, a second ends them. */
async function untilEnd(running: Running, show: Show, { onInterrupt }: Terminal): Promise<Run> {
  let interrupts = 0;
  const stopListening = onInterrupt(() => {
    interrupts += 1;
    if (interrupts === 1) {
      show.say('stopping: turns under way come to their end; press Ctrl-C again to end them now');
      running.stop('interrupted');
    } else {
      show.say('ending the turns under way');
      running.kill();
    }
  });
  try {
    return await running.finished;
  } finally {
    stopListening();
  }
}

/** What there is to say at the end. `told` are agents whose trouble is known. */
async function report(run: Run, words: Words, told: ReadonlySet<string>, terminal: Terminal): Promise<number> {
  const { out, err, cwd } = terminal;
  if (words.json) out(`${JSON.stringify(documentOf(run, await recordedEvents(run.id, cwd)))}\n`);
  else if (!words.events) out(resultsOf(run));
  const code = exitCodeOf(run);
  if (code === EXIT.completed) return code;
  for (const agent of run.agents.filter(({ id }) => !told.has(id))) tellWhy(agent, err);
  if (words.quiet) err(`The run has ended: ${run.status}.\n`);
  err(`To go on: raymond resume ${run.id}${needs(run)}\n`);
  return code;
}

/** One result as it is; several under the names of their agents. */
function resultsOf({ agents }: Run): string {
  const results = agents.flatMap(({ id, phase }) => (phase.kind === 'ended' ? [{ id, text: phase.result }] : []));
  return results.map(({ id, text }) => `${agents.length === 1 ? '' : `[${id}]\n`}${text}\n`).join('');
}

/** Why an agent does not go on, for whoever was not there when it was told. */
function tellWhy({ id, phase }: Agent, err: Terminal['err']): void {
  if (phase.kind === 'paused' || phase.kind === 'failed') err(`[${id}] ${phase.kind}: ${phase.message}\n`);
}

/** What a resume has to be given to get further. */
function needs(run: Run): string {
  if (run.stop?.kind === 'budget') return ' --budget USD';
  if (run.stop?.kind === 'iterations') return ' --max-iterations N';
  return run.agents.some(needsRetry) ? ' --retry' : '';
}

/** A plain resume would leave such an agent as it is. */
const needsRetry = ({ phase }: Agent): boolean =>
  phase.kind === 'failed' || (phase.kind === 'paused' && phase.why === 'interrupted');

const isUnguarded = (event: Event): boolean =>
  (event.kind === 'run_started' || event.kind === 'run_resumed') && event.options.skipPermissions;

const UNGUARDED =
  'warning: Claude Code may do anything without asking. Use this only with workflows you trust, in a place you can lose.';
