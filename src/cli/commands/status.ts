import { formatJson } from '../../core/json.ts';
import { EXIT } from '../../errors.ts';
import { createStatusDocument } from '../../events/run-document.ts';
import { getStatus } from '../../runtime/status.ts';
import { findWorktrees } from '../../runtime/worktrees.ts';
import { createRenderContext } from '../../terminal/render-context.ts';
import type { CommandHandler } from '../command.ts';
import { renderStatusReport } from '../reports/status-report.ts';

/** `raymond status [RUN]`: shows the state of a run, what it waits for and how to continue. */
export const handleStatus: CommandHandler = async ([id = 'last'], { json, all }, terminal) => {
  const report = await getStatus(id, terminal.cwd, { all: all === true });
  const context = createRenderContext(terminal);
  if (json) terminal.out(`${formatJson(createStatusDocument(report, report.history, context.now))}\n`);
  else {
    const worktrees = await findWorktrees(terminal.cwd, terminal.env, report.run.id);
    terminal.out(`${renderStatusReport(report, context, all === true, worktrees).join('\n')}\n`);
  }
  return EXIT.completed;
};
