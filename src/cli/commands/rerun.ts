import type { RunPlace } from '../../app/launcher.ts';
import { nameOfPoint, type RunPoint, readPoints } from '../../app/rerun/points.ts';
import { EXIT } from '../../errors.ts';
import { formatLocalTime } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import { createRenderContext } from '../../render/terminal/terminal.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, WAIT_AT_MOST_MS, withStorage } from '../open-storage.ts';
import { getChoiceOption, getRepeatedOption, getTextOption, readTextArgument } from '../parsed-options.ts';
import { addConfiguredView, leaveRun, refuseNodeOptions, runAndReport } from '../run-and-report.ts';
import { parseRunOptions } from '../run-options.ts';
import { confirmTrustOfRun } from '../trust-questions.ts';
import { readInputText } from './run.ts';

/** `raymond rerun [RUN] --from POINT`: starts a new run that begins right before a turn of another one. */
export const handleRerun: CommandHandler = async ([run = 'last'], options, terminal) =>
  withStorage(
    findDatabaseAddress(options, terminal),
    terminal,
    async (place) => {
      const from = getTextOption(options, 'from');
      return from === undefined ? listPoints(place, run, terminal) : rerunIn(place, run, from, options, terminal);
    },
    WAIT_AT_MOST_MS,
  );

async function rerunIn(
  place: RunPlace,
  runRef: string,
  from: string,
  options: ParsedOptions,
  terminal: Terminal,
): Promise<number> {
  const { launcher, storage } = place;
  const run = await storage.runs.resolve(runRef);
  const [input, say] = [getTextOption(options, 'input'), getTextOption(options, 'say')];
  const runId = getTextOption(options, 'runId');
  const changes = parseRunOptions(options, terminal.cwd);
  const request = {
    cwd: terminal.cwd,
    env: terminal.env,
    from,
    with: parseOverlay(getRepeatedOption(options, 'with')),
    only: options.only === true,
    files: getChoiceOption(options, 'files', ['then', 'now'] as const) ?? 'then',
    links: getRepeatedOption(options, 'link'),
    options: changes,
    ...(input !== undefined && { input: await readInputText(input, terminal) }),
    ...(say !== undefined && { say: await readTextArgument(say, terminal) }),
    ...(runId !== undefined && { runId }),
    // The options stored with the run are confirmed below.
    acceptsStored: true,
    announce: (sentence: string) => (options.quiet ? undefined : terminal.err(`${sanitizeLine(sentence)}\n`)),
  };
  if (launcher.isLocal) await confirmTrustOfRun(run, changes, terminal);
  refuseNodeOptions(options, launcher);
  if (options.detach === true) return leaveRun(() => launcher.rerun(run, request), terminal);
  return runAndReport(
    (observers) => launcher.rerun(run, { ...request, ...observers }),
    addConfiguredView(options, terminal),
    terminal,
    place,
  );
}

/** Reads `--with FILE=PATH`. */
function parseOverlay(written: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    written.map((each) => {
      const at = each.indexOf('=');
      if (at < 1 || at === each.length - 1)
        throw usageError(`--with must be FILE=PATH, not \`${each}\``, 'For example: --with REVIEW.md=stricter.md');
      return [each.slice(0, at), each.slice(at + 1)] as const;
    }),
  );
}

/** Lists the turns of a run, from each of which it can be run again. */
async function listPoints({ storage }: RunPlace, runRef: string, terminal: Terminal): Promise<number> {
  const run = await storage.runs.resolve(runRef);
  const points = await readPoints(run, storage);
  const columns: readonly Column<RunPoint>[] = [
    { title: 'TURN', cell: nameOfPoint },
    { title: 'STATE', cell: describeState },
    { title: 'STARTED', cell: (point) => formatLocalTime(point.kind === 'turn' ? point.start.at : point.at) },
    { title: 'FILES', cell: describeFiles },
  ];
  if (points.length > 0) terminal.out(`${renderTable(points, columns, createRenderContext(terminal)).join('\n')}\n`);
  terminal.err(
    points.length === 0
      ? `The run ${run} has had no turn yet.\n`
      : `Run it again from one of these: raymond rerun ${run} --from ${nameOfPoint(points.at(-1) as RunPoint)}\n`,
  );
  return EXIT.completed;
}

function describeState(point: RunPoint): string {
  if (point.kind === 'question') return `${point.state} (question)`;
  const { state, evaluator, prompt } = point.start;
  if (evaluator !== null) return `${state} (${evaluator})`;
  return point.isEntry ? `${state}#${point.visit}` : `${state} (${prompt})`;
}

const describeFiles = (point: RunPoint): string =>
  point.kind === 'turn' && point.start.snapshot !== undefined ? 'yes' : '';
