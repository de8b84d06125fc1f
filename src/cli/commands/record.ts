import { EXIT } from '../../errors.ts';
import { formatCount } from '../../render/format.ts';
import { createRenderContext } from '../../render/terminal/terminal.ts';
import { wrapText } from '../../render/text-width.ts';
import { recordScenario } from '../../testing/record-scenario.ts';
import { hasPassed } from '../../testing/report.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { getTestTimeoutMs, getTextOption, refuseOptions } from '../parsed-options.ts';
import { renderTestFailure } from '../reports/test-result.ts';

/** `raymond test --record RUN`: turns a run into a scenario and runs it once. */
export const handleRecord: CommandHandler = async (paths, options, terminal) => {
  const [path] = paths;
  if (path !== undefined) throw usageError(`\`${path}\` cannot be used with --record`, 'Name the file with --output.');
  refuseOptions(options, ['filter', 'coverage', 'minCoverage', 'graph', 'keep', 'json'], 'test --record');
  const interrupt = new AbortController();
  const stopListening = terminal.onInterrupt(() => interrupt.abort());
  try {
    const recording = await withStorage(findDatabaseAddress(options, terminal), terminal, ({ storage }) =>
      recordScenario(getTextOption(options, 'record') ?? '', {
        cwd: terminal.cwd,
        storage,
        env: terminal.env,
        realScripts: options.realScripts === true,
        output: getTextOption(options, 'output'),
        timeoutMs: getTestTimeoutMs(options),
        abortSignal: interrupt.signal,
      }),
    );
    const { file, text, answers, notes, testResult: result } = recording;
    if (file === null) terminal.out(text, 'exact');
    const print = (line: string): void => (file === null ? terminal.err(line) : terminal.out(line));
    if (file !== null) print(`${file}: ${formatCount(answers, 'answer')}\n`);
    for (const note of notes) print(`warning: ${note}\n`);
    if (result === undefined) return EXIT.interrupted;
    const context = createRenderContext(terminal);
    if (hasPassed(result)) for (const warning of result.warnings) print(`warning: ${warning}\n`);
    if (!hasPassed(result)) {
      print(`A test of it does not go as the recorded run did:\n${renderTestFailure(result, context).join('\n')}\n`);
      for (const advice of adviseOnMismatch(file, options)) print(`${wrapText(advice, context.columns).join('\n')}\n`);
    } else if (file !== null)
      print(`A test of it goes as the recorded run did. To run it again: raymond test ${file}\n`);
    return hasPassed(result) ? EXIT.completed : EXIT.failed;
  } finally {
    stopListening();
  }
};

/** Says what to do about a recording that does not go as its run did. */
function adviseOnMismatch(file: string | null, { realScripts }: ParsedOptions): readonly string[] {
  const cause = realScripts
    ? 'Scripts were run in a folder that holds only what the scenario puts there. Add what they need under `files`, or a folder of it under `files_from`; without --real-scripts they are replayed as recorded.'
    : 'The workflow may have changed since the run: then correct it, or record a new run. A value that was masked in the recording may also matter: then replace the mask.';
  return file === null ? [cause] : [cause, `The file was written anyway. To run it again: raymond test ${file}`];
}
