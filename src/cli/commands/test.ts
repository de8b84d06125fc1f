import { resolve } from 'node:path';
import { EXIT } from '../../errors.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import { wrapText } from '../../events/text-width.ts';
import type { GraphFormat } from '../../runtime/draw-graph.ts';
import { createRenderContext, type RenderContext } from '../../terminal/render-context.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { allCoverageItems, type Coverage, CoverageCollector, coveredPercent } from '../../testing/coverage.ts';
import { findScenarioFiles } from '../../testing/find-scenario-files.ts';
import { hasPassed, type Interruption, serializeTestReport, type TestReport } from '../../testing/report.ts';
import { runTests, type TestOptions, type TestResult } from '../../testing/run-tests.ts';
import { readTestSuite, type TestCase, withRealScripts } from '../../testing/suite.ts';
import type { CommandHandler, ParsedOptions } from '../command.ts';
import { detectGraphFormat, refuseStateFile, writeGraphFile } from '../graph-file.ts';
import { getNumberOption, getTestTimeoutMs, getTextOption } from '../parsed-options.ts';
import { formatTotalCoverage, renderCoverage } from '../reports/coverage-report.ts';
import { createTestProgressLine } from '../reports/test-progress-line.ts';
import { renderTestResult } from '../reports/test-result.ts';
import { renderTestProblems, renderTestTotal } from '../reports/test-summary.ts';
import { refuseOptions, usageError } from '../usage-error.ts';

/** `raymond test [PATH…]`: plays scenarios without Claude Code and compares what comes of them with what they expect. */
export const handleTest: CommandHandler = async (paths, options, terminal) => {
  if (options.record !== undefined) return (await import('./record.ts')).handleRecord(paths, options, terminal);
  refuseOptions(options, ['output'], 'test without --record');
  const minPercent = getNumberOption(options, 'minCoverage');
  if (minPercent !== undefined && minPercent > 100) throw usageError('--min-coverage is a percentage: from 0 to 100');
  const { files, withoutScenarios: pathsWithoutTests } = findScenarioFiles(
    paths.length === 0 ? ['.'] : paths,
    terminal.cwd,
  );
  const suite = await readTestSuite(files, terminal.cwd);
  const selected = selectTests(suite.testCases, getTextOption(options, 'filter'), suite.unusable.length > 0);
  const testCases = options.realScripts ? selected.map(withRealScripts) : selected;
  const graphFile = getTextOption(options, 'graph');
  const format = graphFile === undefined ? undefined : detectGraphFormat(graphFile);
  if (graphFile !== undefined) refuseStateFile(resolve(terminal.cwd, graphFile), '--graph');
  if (graphFile !== undefined && new Set(testCases.map(({ workflow }) => workflow)).size > 1) {
    throw usageError('--graph draws one workflow', 'Name one PATH whose scenarios are all about the same workflow.');
  }
  const needsCoverage = options.coverage || minPercent !== undefined || graphFile !== undefined;
  const coverages = needsCoverage ? new CoverageCollector() : undefined;

  const context = createRenderContext(terminal);
  const printLines = (...lines: readonly string[]): void => {
    if (!options.json) for (const line of lines) terminal.out(`${line}\n`);
  };
  const startedAt = performance.now();
  const { results, interruption } = await runSuite(
    testCases,
    options,
    terminal,
    coverages,
    createResultPrinter(context, printLines),
  );
  const tookMs = performance.now() - startedAt;
  const covered = coverages === undefined || interruption !== null ? null : await coverages.collect();
  const testedPaths = new Set(suite.testCases.map(({ workflow }) => workflow.path));
  const untested = pathsWithoutTests.filter((path) => !testedPaths.has(resolve(terminal.cwd, path)));
  const outcome: TestReport = {
    results,
    unusable: suite.unusable,
    untested,
    tookMs,
    coverages: covered,
    interruption,
  };
  if (options.json) terminal.out(`${JSON.stringify(serializeTestReport(outcome, terminal.cwd), null, 2)}\n`);
  const isMissingFiles = results.some((result) => !hasPassed(result) && !selected.includes(result.testCase));
  printLines(
    ...renderTestProblems(outcome, context),
    ...(isMissingFiles ? ['', ...wrapText(FILES_MISSING, context.columns)] : []),
  );
  printLines(...renderTestTotal(outcome, context));
  if (interruption !== null) return EXIT.interrupted;
  if (covered !== null && covered.length > 0 && options.coverage)
    printLines('', ...renderCoverage(covered, terminal.cwd, context));
  const [coverage] = covered ?? [];
  if (graphFile !== undefined && format !== undefined && coverage !== undefined)
    await drawCoverage(coverage, graphFile, format, terminal);
  const isEnough =
    covered === null || minPercent === undefined || coveredPercent(allCoverageItems(covered)) >= minPercent;
  if (!isEnough) {
    terminal.err(`raymond: ${formatTotalCoverage(covered ?? [])} are covered, less than ${minPercent}%\n`);
    if (!options.coverage && !options.json) terminal.err('--coverage shows what is not.\n');
  }
  if (suite.unusable.length > 0) return EXIT.invalid;
  return isEnough && results.every(hasPassed) ? EXIT.completed : EXIT.failed;
};

/** Said where scripts failed a scenario that was made without them. */
const FILES_MISSING =
  'With --real-scripts, scripts find only what their scenario puts into its folder. What else they need, such as files that ' +
  'lay there when it was recorded, can be added under `files`, or a folder of them under `files_from`.';

/** Draws what was covered over the picture of the workflow. */
async function drawCoverage(
  coverage: Coverage,
  file: string,
  format: GraphFormat,
  { cwd, err }: Terminal,
): Promise<void> {
  const { workflow, traffic } = coverage;
  const { drawCoverage: drawTraffic } = await import('../../runtime/draw-graph.ts');
  const headline = `${formatTotalCoverage([coverage])} are covered by its scenarios`;
  writeGraphFile(resolve(cwd, file), await drawTraffic(workflow.path, traffic, headline, format, cwd), '--graph');
  err(`${file} is written.\n`);
}

/**
 * The scenarios whose name, or whose file's, contains a text, whatever the case of its letters; where one goes by just that
 * name, no others.
 */
function selectTests(
  testCases: readonly TestCase[],
  filter: string | undefined,
  allowsNone: boolean,
): readonly TestCase[] {
  if (filter === undefined) return testCases;
  const needle = filter.toLowerCase();
  const exactMatches = testCases.filter(({ spec: rehearsal }) => rehearsal.name.toLowerCase() === needle);
  if (exactMatches.length > 0) return exactMatches;
  const selected = testCases.filter(({ file, spec: rehearsal }) =>
    `${file} ${rehearsal.name}`.toLowerCase().includes(needle),
  );
  if (selected.length > 0 || allowsNone) return selected;
  const names = testCases.slice(0, MAX_NAMED).map(({ spec: rehearsal }) => sanitizeLine(rehearsal.name));
  const more = testCases.length > MAX_NAMED ? [`${testCases.length - MAX_NAMED} more`] : [];
  throw usageError(`no scenario is called like \`${filter}\``, `There are these: ${[...names, ...more].join(', ')}.`);
}

const MAX_NAMED = 5;

/** Plays them to the end, or until somebody presses Ctrl-C. */
async function runSuite(
  testCases: readonly TestCase[],
  options: ParsedOptions,
  terminal: Terminal,
  coverages: CoverageCollector | undefined,
  printResult: (result: TestResult) => void,
): Promise<Pick<TestReport, 'results' | 'interruption'>> {
  const interrupt = new AbortController();
  const stopListening = terminal.onInterrupt(() => interrupt.abort());
  const { screen, outIsScreen } = terminal;
  const showsProgress = screen !== null && outIsScreen === true && !options.json;
  const progressLine = showsProgress ? createTestProgressLine(screen, testCases) : undefined;
  const interrupted: Interruption['interrupted'][number][] = [];
  const request: TestOptions = {
    // A copy: to read `process.env` as a whole is slow, and each run does it.
    env: { ...terminal.env },
    timeoutMs: getTestTimeoutMs(options),
    keep: options.keep === true,
    abortSignal: interrupt.signal,
    ...(coverages !== undefined && { coverages }),
    listener: {
      begins: (testCase) => progressLine?.testStarted(testCase),
      ends(testCase, where) {
        progressLine?.testFinished(testCase);
        if (where !== null) interrupted.push({ testCase, positions: where });
      },
    },
  };
  const results: TestResult[] = [];
  try {
    for await (const result of runTests(testCases, request)) {
      results.push(result);
      progressLine?.clear();
      printResult(result);
    }
  } finally {
    progressLine?.close();
    stopListening();
  }
  const isCutShort = interrupt.signal.aborted && results.length < testCases.length;
  const notBegun = testCases.length - results.length - interrupted.length;
  return {
    results,
    interruption: isCutShort ? { interrupted: sortInSuiteOrder(interrupted, testCases), notStarted: notBegun } : null,
  };
}

/** Those that were interrupted, as they stand in their files: who ended first is chance. */
const sortInSuiteOrder = (
  interrupted: Interruption['interrupted'],
  testCases: readonly TestCase[],
): Interruption['interrupted'] =>
  interrupted.toSorted((a, b) => testCases.indexOf(a.testCase) - testCases.indexOf(b.testCase));

/** Tells of one scenario after the other, under the names of their files. */
function createResultPrinter(
  context: RenderContext,
  printLines: (...lines: readonly string[]) => void,
): (result: TestResult) => void {
  let file = '';
  const shownWarnings = new Set<string>();
  return (result) => {
    if (result.testCase.file !== file) {
      file = result.testCase.file;
      printLines(context.colorize('bold', file));
    }
    printLines(...renderTestResult(result, shownWarnings, context));
  };
}
