import { collectCosts, createCostDocument } from '../../app/costs.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { COST_GROUPS } from '../../render/cost-tally.ts';
import { createRenderContext } from '../../render/terminal/render-context.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { getChoiceOption, getTextOption, parseAgeMs } from '../parsed-options.ts';
import { describeIncompleteRun, renderCostReport } from '../reports/cost-report.ts';

/** `raymond costs`: adds up what the runs here have cost. */
export const handleCosts: CommandHandler = async (_, options, terminal) => {
  const by = getChoiceOption(options, 'by', COST_GROUPS) ?? 'run';
  const context = createRenderContext(terminal);
  const sinceMs = parseSince(getTextOption(options, 'since'), context.now);
  const costs = await withStorage(findDatabaseAddress(options, terminal), terminal, ({ storage }) =>
    collectCosts({ storages: [storage], by, sinceMs }),
  );
  if (options.json) terminal.out(`${formatJson(createCostDocument(costs, by, sinceMs))}\n`);
  else terminal.out(`${renderCostReport(costs, by, context).join('\n')}\n`);
  if (!options.json) for (const run of costs.incomplete) terminal.err(`${describeIncompleteRun(run)}\n`);
  return EXIT.completed;
};

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;

/** Reads `--since`: a day, which begins at midnight here, a time, or how long ago. */
function parseSince(written: string | undefined, now: number): number | null {
  if (written === undefined) return null;
  const ageMs = parseAgeMs(written);
  if (ageMs !== undefined) return Math.max(0, now - ageMs);
  const [isDay, year, month, day] = DATE.exec(written) ?? [];
  const isTime = /^\d{4}-\d\d-\d\dT/.test(written);
  const date =
    isDay === undefined
      ? new Date(isTime ? written : Number.NaN)
      : new Date(Number(year), Number(month) - 1, Number(day));
  const isReal = isDay === undefined || (date.getMonth() === Number(month) - 1 && date.getDate() === Number(day));
  if (!Number.isNaN(date.getTime()) && isReal) return date.getTime();
  throw usageError(`--since must be a day such as 2026-01-31, a time, or an age such as 7d or 12h, not \`${written}\``);
}
