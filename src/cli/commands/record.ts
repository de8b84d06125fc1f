import { EXIT } from '../../errors.ts';
import { formatCount } from '../../events/format.ts';
import { wrapText } from '../../events/text-width.ts';
import { createRenderContext } from '../../terminal/render-context.ts';
import { recordScenario as recordRun } from '../../testing/record-scenario.ts';
import { hasPassed } from '../../testing/report.ts';
import type { CommandHandler, ParsedOptions } from '../command.ts';
import { getTestTimeoutMs, getTextOption } from '../parsed-options.ts';
import { renderTestFailure } from '../reports/test-result.ts';
import { refuseOptions, usageError } from '../usage-error.ts';

/** `raymond test --record RUN`: makes a scenario of a run, and plays it once. */
export const handleRecord: CommandHandler = async (paths, options, terminal) => {
  const [path] = paths;
  if (path !== undefined) throw usageError(`\`${path}\` means nothing beside --record`, 'Name the file with --output.');
  refuseOptions(options, ['filter', 'coverage', 'minCoverage', 'graph', 'keep', 'json'], 'test --record');
  const interrupt = new AbortController();
  const stopListening = terminal.onInterrupt(() => interrupt.abort());
  try {
    const { cwd, env } = terminal;
    const {
      file,
      text,
      answers,
      notes,
      testResult: result,
    } = await recordRun(getTextOption(options, 'record') ?? '', {
      cwd,
      env,
      realScripts: options.realScripts === true,
      output: getTextOption(options, 'output'),
      timeoutMs: getTestTimeoutMs(options),
      abortSignal: interrupt.signal,
    });
    if (file === null) terminal.out(text);
    const print = file === null ? terminal.err : terminal.out;
    if (file !== null) print(`${file}: ${formatCount(answers, 'answer')}\n`);
    for (const note of notes) print(`warning: ${note}\n`);
    if (result === undefined) return EXIT.interrupted;
    const context = createRenderContext(terminal);
    if (hasPassed(result)) for (const warning of result.warnings) print(`warning: ${warning}\n`);
    if (!hasPassed(result)) {
      print(`It was played, and did not go as the run went:\n${renderTestFailure(result, context).join('\n')}\n`);
      for (const advice of adviseOnMismatch(file, options)) print(`${wrapText(advice, context.columns).join('\n')}\n`);
    } else if (file !== null) print(`It was played, and went as the run went. Play it again: raymond test ${file}\n`);
    return hasPassed(result) ? EXIT.completed : EXIT.failed;
  } finally {
    stopListening();
  }
};

/** What to do about a recording that does not go as its run went. */
function adviseOnMismatch(file: string | null, { realScripts }: ParsedOptions): readonly string[] {
  const cause = realScripts
    ? 'Scripts were run in a folder that holds only what the scenario puts there. Add what they need under `files`, or a folder of it under `files_from`; without --real-scripts they are played as they went.'
    : 'The workflow may have changed since the run: then mend it, or record a new run. What was masked in the recording may count as well: then write something else in its place.';
  return file === null ? [cause] : [cause, `It is written all the same. Play it again: raymond test ${file}`];
}
