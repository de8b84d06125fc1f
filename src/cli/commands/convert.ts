import { convertWorkflow } from '../../app/workflows/convert.ts';
import { EXIT } from '../../errors.ts';
import { formatCount } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type CommandHandler, usageError } from '../command.ts';

/** `raymond convert FROM TO`: writes a workflow as a folder, a zip or one file, by the ending of TO. */
export const handleConvert: CommandHandler = async ([from, to], options, { cwd, out, err }) => {
  if (from === undefined || to === undefined)
    throw usageError('name the workflow and what it is to become: raymond convert FROM TO');
  const { files, leftOut } = await convertWorkflow(from, to, { cwd, lossy: options.lossy === true });
  out(`Wrote ${sanitizeLine(to)}: ${formatCount(files.length, 'file')} (${files.map(sanitizeLine).join(', ')})\n`);
  if (leftOut.length > 0) err(`Left out: ${leftOut.map(sanitizeLine).join(', ')}\n`);
  return EXIT.completed;
};
