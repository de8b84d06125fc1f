import { EXIT } from '../../errors.ts';
import { wrapped } from '../../observers/fit.ts';
import { harmless } from '../../observers/harmless.ts';
import type { Ink } from '../../observers/ink.ts';
import { counted } from '../../observers/words.ts';
import { type Diagnosis, examine } from '../../raymond/doctor.ts';
import type { Carry } from '../entry.ts';
import { type Page, pageOf } from '../page.ts';
import { textOf } from '../words.ts';

/** `raymond doctor`: is everything there that a run needs, and what is to be done where it is not? */
export const doctor: Carry = async (_args, words, terminal) => {
  const { cwd, env, out } = terminal;
  const page = pageOf(terminal);
  const found: Diagnosis[] = [];
  for await (const diagnosis of examine({
    cwd,
    env,
    claude: textOf(words, 'claude') ?? null,
    ask: words.ask === true,
  })) {
    found.push(diagnosis);
    if (!words.json) out(`${linesOf(diagnosis, page).join('\n')}\n`);
  }
  const ok = found.every(({ level }) => level !== 'error');
  out(words.json ? `${JSON.stringify({ ok, checks: found }, null, 2)}\n` : `\n${summary(found)}\n`);
  return ok ? EXIT.completed : EXIT.usage;
};

const MARKS: Readonly<Record<Diagnosis['level'], readonly [mark: string, ink: Ink]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  error: ['✗', 'red'],
  skipped: ['-', 'dim'],
};

const NAME_WIDTH = 13;

function linesOf({ name, level, message, remedy = '' }: Diagnosis, { columns, dye }: Page): readonly string[] {
  const [mark, ink] = MARKS[level];
  const told = [...harmless(message).split('\n'), ...(remedy === '' ? [] : [`→ ${harmless(remedy)}`])];
  const lines = told.flatMap((line) => wrapped(line, columns - NAME_WIDTH - 2));
  return lines.map((line, at) => `${at === 0 ? `${dye(ink, mark)} ${name.padEnd(NAME_WIDTH)}` : INDENT}${line}`);
}

const INDENT = ' '.repeat(NAME_WIDTH + 2);

function summary(found: readonly Diagnosis[]): string {
  const [errors = 0, warnings = 0] = ['error', 'warning'].map((of) => found.filter(({ level }) => level === of).length);
  if (errors > 0) return `${counted(errors, 'thing')} to put right first: see ✗.`;
  return warnings > 0 ? `Ready to run. ${counted(warnings, 'thing')} to know about: see !.` : 'Ready to run.';
}
