import { EXIT } from '../../errors.ts';
import { counted } from '../../observers/words.ts';
import { documentOfRuns, type Listed, runsHere } from '../../raymond/runs.ts';
import type { Carry } from '../entry.ts';
import { pageOf } from '../page.ts';
import { runTable } from '../run-table.ts';

/** `raymond list`: every run there is here, the unfinished first. */
export const list: Carry = async (_, { json }, terminal) => {
  const runs = await runsHere(terminal.cwd);
  if (json) terminal.out(`${JSON.stringify(documentOfRuns(runs))}\n`);
  else if (runs.length === 0) terminal.out('There are no runs here yet. `raymond WORKFLOW` starts one.\n');
  else terminal.out(`${runTable(runs, pageOf(terminal)).join('\n')}\n`);
  if (!json) for (const remark of remarksOn(runs)) terminal.err(`${remark}\n`);
  return EXIT.completed;
};

/** What there is to do about runs that are not as they should be. */
function remarksOn(runs: readonly Listed[]): readonly string[] {
  const crashed = runs.filter((run) => run.kind === 'run' && run.standing === 'crashed');
  const remarks = runs.flatMap((run) => (run.kind === 'unreadable' ? [`${run.id}: ${run.error.message}`] : []));
  const [only, second] = crashed;
  if (only === undefined) return remarks;
  const what =
    second === undefined
      ? `The process of ${only.id} is gone. To go on: raymond resume ${only.id}`
      : `The processes of ${counted(crashed.length, 'run')} are gone. To go on with all of them: raymond recover --resume`;
  return [...remarks, what];
}
