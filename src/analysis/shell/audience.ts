import { nameOf } from './speech.ts';
import type { Line } from './walk.ts';

/** The lines whose output surely is the output of the script, whenever they are run. */
export function surelyHeard(lines: readonly Line[]): ReadonlySet<Line> {
  if (movesOutput(lines)) return new Set();
  const called = functionsHeard(lines.filter(isDirect));
  return new Set(lines.filter((line) => isDirect(line) && (line.within === null || called.has(line.within))));
}

/** Whether a script plays with its outputs so that nobody can say where they go. */
export const movesOutput = (lines: readonly Line[]): boolean => lines.some((line) => line.copies || isMove(line));

/** Whether a command changes where the output of all later ones goes, as `exec 3>&1 1>&2` does. */
function isMove({ words, redirects }: Line): boolean {
  const { name, args } = nameOf(words);
  if (name !== 'exec' || args.some(({ text }) => !/^\{\w+\}$/.test(text))) return false;
  return redirects.some(({ op, fd, to }) => {
    return /&/.test(op) || to.text.startsWith('/dev/') || (op.includes('>') && (fd === '' || fd === '1'));
  });
}

const isDirect = ({ heard, piped }: Line): boolean => heard && !piped;

/** The functions that are called where their output is heard; a call may be captured or sent away instead. */
function functionsHeard(lines: readonly Line[]): ReadonlySet<string> {
  const calls = new Map<string | null, Set<string>>();
  for (const { words, within } of lines) {
    const names = calls.get(within) ?? new Set();
    calls.set(within, names.add(nameOf(words).name));
  }
  const heard = new Set<string>(calls.get(null));
  // A set that grows is walked to its new end.
  for (const name of heard) for (const each of calls.get(name) ?? []) heard.add(each);
  return heard;
}
