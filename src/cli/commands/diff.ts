import { diffRun, type FolderDiff } from '../../app/diff.ts';
import { createDiffDocument } from '../../documents/diff-document.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { formatCount } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import type { CommandHandler } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';

/** `raymond diff [RUN] [TURN]`: shows how the files changed during a turn, a visit of a state, or the run. */
export const handleDiff: CommandHandler = async ([run = 'last', turn], options, terminal) =>
  withStorage(findDatabaseAddress(options, terminal), terminal, async (place) => {
    const { out, err } = terminal;
    const diff = await diffRun(place, run, turn);
    if (options.json) {
      out(`${formatJson(createDiffDocument(diff))}\n`);
      return EXIT.completed;
    }
    const changed = diff.folders.filter(({ files }) => files.length > 0);
    const about = diff.turns.length === 0 ? `run ${diff.run}` : diff.turns.join(', ');
    if (changed.length === 0) err(`No file changed during ${about}.\n`);
    for (const folder of changed) {
      if (changed.length > 1 || options.stat === true) out(`${sanitizeLine(folder.folder)}\n`);
      if (options.stat === true) out(`${renderStat(folder).join('\n')}\n`);
      else out(`${folder.patch}\n`);
      if (folder.isCut) err('The rest of the patch is left out.\n');
    }
    return EXIT.completed;
  });

function renderStat({ files }: FolderDiff): readonly string[] {
  return files
    .map(({ path, status, added, removed }) => {
      const lines = added === null || removed === null ? 'no text' : `+${added} -${removed}`;
      return `  ${status} ${sanitizeLine(path)}  ${lines}`;
    })
    .concat(`  ${formatCount(files.length, 'file')} changed`);
}
