import { formatJson } from '../../core/json.ts';
import { EXIT } from '../../errors.ts';
import { createStatusDocument } from '../../events/run-document.ts';
import { getStatus } from '../../runtime/status.ts';
import { findWorktrees } from '../../runtime/worktrees.ts';
import { createRenderContext } from '../../terminal/render-context.ts';
import type { CommandHandler } from '../command.ts';
import { findDatabaseAddress, withRunPlace } from '../database-option.ts';
import { renderStatusReport } from '../reports/status-report.ts';

/** `raymond status [RUN]`: shows the state of a run, what it waits for and how to continue. */
export const handleStatus: CommandHandler = async ([id = 'last'], options, terminal) =>
  withRunPlace(findDatabaseAddress(options, terminal), terminal, async ({ location, database }) => {
    const { json, all } = options;
    const report = await getStatus(id, location, { all: all === true });
    const context = createRenderContext(terminal);
    if (json) terminal.out(`${formatJson(createStatusDocument(report, report.history, context.now))}\n`);
    else {
      const worktrees =
        database === null
          ? await findWorktrees(terminal.cwd, terminal.env, report.run.id)
          : await database.findWorktrees(report.run.id);
      terminal.out(`${renderStatusReport(report, context, all === true, worktrees).join('\n')}\n`);
    }
    return EXIT.completed;
  });
