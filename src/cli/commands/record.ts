import { EXIT } from '../../errors.ts';
import { wrapped } from '../../observers/fit.ts';
import { counted } from '../../observers/words.ts';
import { hasPassed } from '../../rehearsal/document.ts';
import { record as recordRun } from '../../rehearsal/record.ts';
import type { Carry, Words } from '../entry.ts';
import { pageOf } from '../page.ts';
import { patienceOf } from '../patience.ts';
import { refuse, usage } from '../usage.ts';
import { detailLines } from '../verdict-page.ts';
import { textOf } from '../words.ts';

/** `raymond test --record RUN`: makes a scenario of a run, and plays it once. */
export const record: Carry = async (paths, words, terminal) => {
  const [path] = paths;
  if (path !== undefined) throw usage(`\`${path}\` means nothing beside --record`, 'Name the file with --output.');
  refuse(words, ['filter', 'coverage', 'minCoverage', 'graph', 'keep', 'json'], 'test --record');
  const enough = new AbortController();
  const stopListening = terminal.onInterrupt(() => enough.abort());
  try {
    const { cwd, env } = terminal;
    const { file, text, answers, notes, verdict } = await recordRun(textOf(words, 'record') ?? '', {
      ...{ cwd, env, realScripts: words.realScripts === true, output: textOf(words, 'output') },
      ...{ timeoutMs: patienceOf(words), enough: enough.signal },
    });
    if (file === null) terminal.out(text);
    const say = file === null ? terminal.err : terminal.out;
    if (file !== null) say(`${file}: ${counted(answers, 'answer')}\n`);
    for (const note of notes) say(`warning: ${note}\n`);
    if (verdict === undefined) return EXIT.interrupted;
    const page = pageOf(terminal);
    if (hasPassed(verdict)) for (const warning of verdict.warnings) say(`warning: ${warning}\n`);
    if (!hasPassed(verdict)) {
      say(`It was played, and did not go as the run went:\n${detailLines(verdict, page).join('\n')}\n`);
      for (const advice of advicesOn(file, words)) say(`${wrapped(advice, page.columns).join('\n')}\n`);
    } else if (file !== null) say(`It was played, and went as the run went. Play it again: raymond test ${file}\n`);
    return hasPassed(verdict) ? EXIT.completed : EXIT.failed;
  } finally {
    stopListening();
  }
};

/** What to do about a recording that does not go as its run went. */
function advicesOn(file: string | null, { realScripts }: Words): readonly string[] {
  const why = realScripts
    ? 'Scripts were run in a folder that holds only what the scenario puts there. Add what they need under `files`, or a folder of it under `files_from`; without --real-scripts they are played as they went.'
    : 'The workflow may have changed since the run: then mend it, or record a new run. What was masked in the recording may count as well: then write something else in its place.';
  return file === null ? [why] : [why, `It is written all the same. Play it again: raymond test ${file}`];
}
