import { EXIT } from '../../errors.ts';
import { standingDocument } from '../../observers/standing-document.ts';
import { reportOn } from '../../raymond/status.ts';
import type { Carry } from '../entry.ts';
import { pageOf } from '../page.ts';
import { statusPage } from '../status-page.ts';

/** `raymond status [RUN]`: where a run stands, what it waits for and how to go on. */
export const status: Carry = async ([id = 'last'], { json }, terminal) => {
  const report = await reportOn(id, terminal.cwd);
  const page = pageOf(terminal);
  if (json) terminal.out(`${JSON.stringify(standingDocument(report, report.history, page.now))}\n`);
  else terminal.out(`${statusPage(report, page).join('\n')}\n`);
  return EXIT.completed;
};
