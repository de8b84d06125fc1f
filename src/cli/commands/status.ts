import { EXIT } from '../../errors.ts';
import { createStatusDocument } from '../../observers/standing-document.ts';
import { getStatus } from '../../raymond/status.ts';
import type { CommandHandler } from '../entry.ts';
import { createRenderContext } from '../page.ts';
import { renderStatusReport } from '../status-page.ts';

/** `raymond status [RUN]`: where a run stands, what it waits for and how to go on. */
export const handleStatus: CommandHandler = async ([id = 'last'], { json }, terminal) => {
  const report = await getStatus(id, terminal.cwd);
  const context = createRenderContext(terminal);
  if (json) terminal.out(`${JSON.stringify(createStatusDocument(report, report.history, context.now))}\n`);
  else terminal.out(`${renderStatusReport(report, context).join('\n')}\n`);
  return EXIT.completed;
};
