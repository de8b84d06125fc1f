import { listUnfinishedFirst, type RunListEntry } from '../../app/list-runs.ts';
import { openFileStorage } from '../../app/open-files.ts';
import { projectFolderOf, readKnownProjects } from '../../app/trust/known-projects.ts';
import { createRunListEntry, toRunListDocument } from '../../documents/run-document.ts';
import type { AllRunsDocument } from '../../documents/types.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { formatCount } from '../../render/format.ts';
import { createRenderContext, type Terminal } from '../../render/terminal/terminal.ts';
import type { CommandHandler } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { describeCrashedRuns, renderRunTable } from '../reports/run-table.ts';

/** `raymond list`: lists the runs, unfinished ones first. */
export const handleList: CommandHandler = async (_, options, terminal) => {
  const { json, all } = options;
  if (all === true) return listAll(json === true, terminal);
  const address = findDatabaseAddress(options, terminal);
  const runs = await withStorage(address, terminal, ({ storage }) => listUnfinishedFirst(storage));
  if (json) terminal.out(`${formatJson(toRunListDocument(runs))}\n`);
  else if (runs.length === 0) terminal.out('There are no runs here yet. `raymond WORKFLOW` starts one.\n');
  else terminal.out(`${renderRunTable(runs, createRenderContext(terminal)).join('\n')}\n`);
  if (!json) for (const remark of listRemarks(runs)) terminal.err(`${remark}\n`);
  return EXIT.completed;
};

/** Lists the runs of all folders in which the user has started any, the latest folder first. */
async function listAll(json: boolean, terminal: Terminal): Promise<number> {
  const folders = [...new Set([projectFolderOf(terminal.cwd), ...readKnownProjects(terminal.env)])];
  const listed = await Promise.all(
    folders.map(async (folder) => ({ folder, runs: await listUnfinishedFirst(openFileStorage(folder, terminal.env)) })),
  );
  const filled = listed.filter(({ runs }) => runs.length > 0);
  if (json) {
    const document: AllRunsDocument = {
      runs: filled.flatMap(({ folder, runs }) => runs.map((run) => ({ folder, ...createRunListEntry(run) }))),
    };
    terminal.out(`${formatJson(document)}\n`);
    return EXIT.completed;
  }
  if (filled.length === 0) terminal.out('There are no runs yet. `raymond WORKFLOW` starts one.\n');
  for (const [at, { folder, runs }] of filled.entries()) {
    const table = renderRunTable(runs, createRenderContext(terminal));
    terminal.out(`${at === 0 ? '' : '\n'}${folder}\n${table.join('\n')}\n`);
    for (const remark of listRemarks(runs)) terminal.err(`${remark}\n`);
  }
  return EXIT.completed;
}

/** Says what to do about runs that have crashed, are damaged, cannot be read or wait for a person. */
function listRemarks(runs: readonly RunListEntry[]): readonly string[] {
  const crashed = runs.filter((run) => run.kind === 'run' && run.observedStatus === 'crashed');
  const remarks = runs.flatMap((run) => (run.kind === 'unreadable' ? [`${run.id}: ${run.error.message}`] : run.damage));
  const advice = describeCrashedRuns(crashed.map(({ id }) => id));
  const questions = runs.reduce((sum, run) => sum + (run.kind === 'run' ? (run.agents.asking ?? 0) : 0), 0);
  const asks = questions === 0 ? [] : [`${formatCount(questions, 'question')} for a person: raymond asks`];
  return [...remarks, ...(advice === null ? [] : [advice]), ...asks];
}
