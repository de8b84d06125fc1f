import { resumeRun } from '../../raymond/resume.ts';
import { attend } from '../attend.ts';
import type { Carry } from '../catalogue.ts';
import { optionsOf } from '../options.ts';
import { refuse, usage } from '../usage.ts';

const ONLY_RUN = ['input', 'dir', 'name', 'runId'];

/** `raymond resume RUN`: the options of the run are remembered, those given now go before. */
export const resume: Carry = async ([id], words, terminal) => {
  refuse(words, ONLY_RUN, 'resume');
  if (id === undefined) throw usage('which run is to go on?', 'raymond list shows them; "last" is the latest.');
  const request = {
    cwd: terminal.cwd,
    env: terminal.env,
    options: optionsOf(words, terminal.cwd),
    retry: words.retry === true,
    takeOver: words.takeOver === true,
  };
  return attend((place) => resumeRun(id, { ...request, ...place }), words, terminal);
};
