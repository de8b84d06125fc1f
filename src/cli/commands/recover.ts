import { EXIT, RaymondError } from '../../errors.ts';
import { counted } from '../../observers/words.ts';
import { resumeRun } from '../../raymond/resume.ts';
import { documentOfRuns, type Listed, runsHere } from '../../raymond/runs.ts';
import { attend } from '../attend.ts';
import type { Carry, Words } from '../entry.ts';
import { pageOf } from '../page.ts';
import { runTable } from '../run-table.ts';
import type { Terminal } from '../terminal.ts';

/** `raymond recover`: the runs whose process is gone; with --resume they go on, one after the other. */
export const recover: Carry = async (_, words, terminal) => {
  const runs = (await runsHere(terminal.cwd)).filter((run) => run.kind === 'run' && run.standing === 'crashed');
  if (words.resume === true && runs.length > 0) return resumeAll(runs, words, terminal);
  if (words.json && !words.resume) terminal.out(`${JSON.stringify(documentOfRuns(runs))}\n`);
  else if (runs.length === 0) terminal.err('Nothing to recover: no run has lost its process.\n');
  else {
    terminal.out(`${runTable(runs, pageOf(terminal)).join('\n')}\n`);
    terminal.err(
      `${runs.length === 1 ? 'Its process is' : 'Their processes are'} gone. To go on: raymond recover --resume\n`,
    );
  }
  return EXIT.completed;
};

/** Exit codes from the one that matters most. */
const BY_WEIGHT: readonly number[] = [
  EXIT.interrupted,
  EXIT.invalid,
  EXIT.usage,
  EXIT.limit,
  EXIT.paused,
  EXIT.waiting,
  EXIT.failed,
  EXIT.completed,
];

/** Goes on with each of them until it ends. Whoever interrupts one wants none of the others to start. */
async function resumeAll(runs: readonly Listed[], words: Words, terminal: Terminal): Promise<number> {
  const codes: number[] = [];
  for (const [at, { id }] of runs.entries()) {
    terminal.err(`Going on with ${id}${runs.length === 1 ? '' : ` (${at + 1} of ${runs.length})`}\n`);
    const code = await resumeOne(id, words, terminal);
    codes.push(code);
    const left = runs.length - at - 1;
    if (code !== EXIT.interrupted) continue;
    if (left > 0) terminal.err(`${counted(left, 'run')} not gone on with. To go on: raymond recover --resume\n`);
    break;
  }
  return BY_WEIGHT.find((code) => codes.includes(code)) ?? EXIT.completed;
}

/** A run that cannot be resumed does not keep the others from going on. */
async function resumeOne(id: string, words: Words, terminal: Terminal): Promise<number> {
  const { cwd, env } = terminal;
  try {
    return await attend((place) => resumeRun(id, { cwd, env, ...place }), words, terminal);
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    terminal.err(`${id}: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
    return error.exitCode;
  }
}
