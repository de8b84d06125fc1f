import { resolve } from 'node:path';
import type { GraphFormat } from '../../app/workflows/draw-graph.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { createRenderContext, type RenderContext, type Terminal } from '../../render/terminal/terminal.ts';
import { wrapText } from '../../render/text-width.ts';
import { allCoverageItems, type Coverage, CoverageCollector, coveredPercent } from '../../testing/coverage.ts';
import { findScenarioFiles } from '../../testing/find-scenario-files.ts';
import { hasPassed, type Interruption, serializeTestReport, type TestReport } from '../../testing/report.ts';
import { runTests, type TestOptions, type TestResult } from '../../testing/run-tests.ts';
import { readTestSuite, type TestCase, withRealScripts } from '../../testing/suite.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { detectGraphFormat, refuseStateFile, writeGraphFile } from '../graph-file.ts';
import { getNumberOption, getTestTimeoutMs, getTextOption, refuseOptions } from '../parsed-options.ts';
import { renderTestResult } from '../reports/test-result.ts';
import {
  createTestProgressLine,
  formatTotalCoverage,
  renderCoverage,
  renderTestProblems,
  renderTestTotal,
} from '../reports/test-summary.ts';

/** `raymond test [PATH…]`: runs scenarios without Claude Code and compares the outcome with what they expect. */
export const handleTest: CommandHandler = async (paths, options, terminal) => {
  if (options.record !== undefined) return (await import('./record.ts')).handleRecord(paths, options, terminal);
  refuseOptions(options, ['output'], 'test without --record');
  const { cwd } = terminal;
  const minPercent = getNumberOption(options, 'minCoverage');
  if (minPercent !== undefined && minPercent > 100) throw usageError('--min-coverage must be from 0 to 100');
  const { files, withoutScenarios } = findScenarioFiles(paths.length === 0 ? ['.'] : paths, cwd);
  const suite = await readTestSuite(files, cwd, getTextOption(options, 'root') ?? null);
  const selected = selectTests(suite.testCases, getTextOption(options, 'filter'), suite.unusable.length > 0);
  const testCases = options.realScripts ? selected.map(withRealScripts) : selected;
  const graph = parseGraphOption(options, testCases, cwd);
  const needsCoverage = options.coverage || minPercent !== undefined || graph !== null;
  const coverages = needsCoverage ? new CoverageCollector() : undefined;

  const context = createRenderContext(terminal);
  const printLines = (...lines: readonly string[]): void => {
    if (!options.json) for (const line of lines) terminal.out(`${line}\n`);
  };
  const startedAt = performance.now();
  const printResult = createResultPrinter(context, printLines);
  const { results, interruption } = await runSuite(testCases, options, terminal, coverages, printResult);
  const tookMs = performance.now() - startedAt;
  const testedPaths = new Set(suite.testCases.map(({ workflow }) => workflow.path));
  const report: TestReport = {
    results,
    unusable: suite.unusable,
    untested: withoutScenarios.filter((path) => !testedPaths.has(resolve(cwd, path))),
    tookMs,
    coverages: coverages === undefined || interruption !== null ? null : await coverages.collect(),
    interruption,
  };
  if (options.json) terminal.out(`${formatJson(serializeTestReport(report, cwd), 2)}\n`);
  const failedWithoutFiles = results.some((result) => !hasPassed(result) && !selected.includes(result.testCase));
  printLines(...renderTestProblems(report, context));
  if (failedWithoutFiles) printLines('', ...wrapText(FILES_MISSING, context.columns));
  printLines(...renderTestTotal(report, context));
  if (interruption !== null) return EXIT.interrupted;

  const covered = report.coverages ?? [];
  if (covered.length > 0 && options.coverage) printLines('', ...renderCoverage(covered, cwd, context));
  const [coverage] = covered;
  if (graph !== null && coverage !== undefined) await drawCoverage(coverage, graph, terminal);
  const isEnough = minPercent === undefined || coveredPercent(allCoverageItems(covered)) >= minPercent;
  if (!isEnough) {
    terminal.err(`raymond: ${formatTotalCoverage(covered)} covered, less than ${minPercent}%\n`);
    if (!options.coverage && !options.json) terminal.err('--coverage shows what is missing.\n');
  }
  if (suite.unusable.length > 0) return EXIT.invalid;
  return isEnough && results.every(hasPassed) ? EXIT.completed : EXIT.failed;
};

/** The file that `--graph` names, and its format. */
interface GraphOption {
  readonly file: string;
  readonly format: GraphFormat;
}

function parseGraphOption(options: ParsedOptions, testCases: readonly TestCase[], cwd: string): GraphOption | null {
  const file = getTextOption(options, 'graph');
  if (file === undefined) return null;
  const format = detectGraphFormat(file);
  refuseStateFile(resolve(cwd, file), '--graph');
  if (new Set(testCases.map(({ workflow }) => workflow)).size > 1)
    throw usageError('--graph draws one workflow', 'Name one PATH whose scenarios are all about the same workflow.');
  return { file, format };
}

/** The hint if a scenario that was recorded without its scripts fails with them. */
const FILES_MISSING =
  'With --real-scripts, scripts find only what their scenario puts into its folder. Add other files that they need, such as ' +
  'those that were there when it was recorded, under `files`, or a folder of them under `files_from`.';

/** Draws the coverage over the workflow. */
async function drawCoverage(
  coverage: Coverage,
  { file, format }: GraphOption,
  { cwd, env, err }: Terminal,
): Promise<void> {
  const { workflow, traffic } = coverage;
  const { drawCoverage: drawTraffic } = await import('../../app/workflows/draw-graph.ts');
  const headline = `${formatTotalCoverage([coverage])} covered by its scenarios`;
  writeGraphFile(
    resolve(cwd, file),
    await drawTraffic(workflow.path, traffic, headline, format, { cwd, env }),
    '--graph',
  );
  err(`Wrote ${file}\n`);
}

/** Selects the scenarios with this name; if there are none, those whose name or file contains it. Case does not matter. */
function selectTests(
  testCases: readonly TestCase[],
  filter: string | undefined,
  allowsNone: boolean,
): readonly TestCase[] {
  if (filter === undefined) return testCases;
  const needle = filter.toLowerCase();
  const exactMatches = testCases.filter(({ spec }) => spec.name.toLowerCase() === needle);
  if (exactMatches.length > 0) return exactMatches;
  const selected = testCases.filter(({ file, spec }) => `${file} ${spec.name}`.toLowerCase().includes(needle));
  if (selected.length > 0 || allowsNone) return selected;
  const names = testCases.slice(0, MAX_NAMED).map(({ spec }) => sanitizeLine(spec.name));
  const more = testCases.length > MAX_NAMED ? [`${testCases.length - MAX_NAMED} more`] : [];
  throw usageError(`no scenario matches \`${filter}\``, `There are: ${[...names, ...more].join(', ')}.`);
}

const MAX_NAMED = 5;

/** Runs the scenarios until the end or until Ctrl-C. */
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
    // A copy, because each run reads all of it, and that is slow in `process.env`.
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

/** Sorts interrupted scenarios as in their files: the order in which they end is chance. */
const sortInSuiteOrder = (
  interrupted: Interruption['interrupted'],
  testCases: readonly TestCase[],
): Interruption['interrupted'] =>
  interrupted.toSorted((a, b) => testCases.indexOf(a.testCase) - testCases.indexOf(b.testCase));

/** Prints one result after the other, under the names of their files. */
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
