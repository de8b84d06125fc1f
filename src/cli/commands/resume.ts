import type { RaymondError } from '../../errors.ts';
import { resumeRun } from '../../raymond/resume.ts';
import { type Listed, type RunSummary, runsHere } from '../../raymond/runs.ts';
import { attend } from '../attend.ts';
import type { Carry } from '../entry.ts';
import { optionsOf } from '../options.ts';
import { ago, standingWord } from '../standings.ts';
import { tableOf } from '../table.ts';
import { refuse, usage } from '../usage.ts';

const ONLY_RUN = ['input', 'dir', 'name', 'runId'];

/** `raymond resume RUN`: the options of the run are remembered, those given now go before. */
export const resume: Carry = async ([id], words, terminal) => {
  refuse(words, ONLY_RUN, 'resume');
  if (id === undefined) throw whichOne(await runsHere(terminal.cwd), Date.now());
  const request = {
    cwd: terminal.cwd,
    env: terminal.env,
    options: optionsOf(words, terminal.cwd),
    retry: words.retry === true,
    takeOver: words.takeOver === true,
  };
  return attend((place) => resumeRun(id, { ...request, ...place }), words, terminal);
};

const MOST = 10;

/** Names the runs that there are to choose from. */
function whichOne(runs: readonly Listed[], now: number): RaymondError {
  const resumable = runs.filter((run) => run.kind === 'run').filter(canGoOn);
  if (resumable.length === 0) return usage('there is no run to go on with', '`raymond list` shows the runs there are.');
  const columns = [
    { title: '', cell: ({ id }: RunSummary) => `  ${id}` },
    { title: '', cell: ({ standing }: RunSummary) => standingWord(standing) },
    { title: '', cell: ({ startedAt }: RunSummary) => `${ago(startedAt, now)} ago` },
  ];
  const page = { columns: Number.POSITIVE_INFINITY, dye: (_: unknown, text: string) => text, now };
  const lines = tableOf(resumable.slice(0, MOST), columns, page);
  const more = resumable.length > MOST ? '\n  … `raymond list` shows all' : '';
  return usage('which run is to go on?', `One of these, or "last", the latest of all:\n${lines.join('\n')}${more}`);
}

/** Failed agents are only taken up with --retry, but they can be. */
const canGoOn = ({ standing }: RunSummary): boolean =>
  !['running', 'stopping', 'elsewhere', 'completed'].includes(standing);
