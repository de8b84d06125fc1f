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
export const resume: Carry = async ([given], words, terminal) => {
  refuse(words, ONLY_RUN, 'resume');
  const id = given ?? theOnlyOne(await runsHere(terminal.cwd), Date.now());
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

/** The run that is meant when none is named: there must be no other to choose. */
function theOnlyOne(runs: readonly Listed[], now: number): string {
  const [only, second, ...others] = runs.filter((run) => run.kind === 'run').filter(canGoOn);
  if (only === undefined) throw usage('there is no run to resume', '`raymond list` shows the runs there are.');
  if (second === undefined) return only.id;
  throw whichOne([only, second, ...others], now);
}

/** Names the runs that there are to choose from. */
function whichOne(resumable: readonly RunSummary[], now: number): RaymondError {
  const columns = [
    { title: '', cell: ({ id }: RunSummary) => `  ${id}` },
    { title: '', cell: ({ standing }: RunSummary) => standingWord(standing) },
    { title: '', cell: ({ startedAt }: RunSummary) => `${ago(startedAt, now)} ago` },
  ];
  const page = { columns: Number.POSITIVE_INFINITY, dye: (_: unknown, text: string) => text, now };
  const lines = tableOf(resumable.slice(0, MOST), columns, page);
  const more = resumable.length > MOST ? '\n  … `raymond list` shows all' : '';
  return usage(
    'there is more than one run to resume',
    `Name one of these, or "last", the latest of all:\n${lines.join('\n')}${more}`,
  );
}

/** Failed agents are only taken up with --retry, but they can be. */
const canGoOn = ({ standing }: RunSummary): boolean =>
  !['running', 'stopping', 'elsewhere', 'completed'].includes(standing);
