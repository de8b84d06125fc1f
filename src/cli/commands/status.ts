import { readRunStatus } from '../../app/status.ts';
import { createStatusDocument } from '../../documents/run-document.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { createRenderContext } from '../../render/terminal/terminal.ts';
import type { CommandHandler } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { renderStatusReport } from '../reports/status-report.ts';

/** `raymond status [RUN]`: shows the state of a run, what it waits for and how to continue. */
export const handleStatus: CommandHandler = async ([id = 'last'], options, terminal) =>
  withStorage(findDatabaseAddress(options, terminal), terminal, async ({ storage, launcher }) => {
    const { json, all } = options;
    const report = await readRunStatus(id, storage, { all: all === true });
    const context = createRenderContext(terminal, storage.clock.now());
    if (json) terminal.out(`${formatJson(createStatusDocument(report, report.history, context.now))}\n`);
    else {
      const worktrees = await launcher.worktrees.findRecorded(report.run.id);
      terminal.out(`${renderStatusReport(report, context, all === true, worktrees).join('\n')}\n`);
    }
    return EXIT.completed;
  });
