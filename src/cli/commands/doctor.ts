import { formatJson } from '../../core/json.ts';
import { EXIT } from '../../errors.ts';
import { formatCount } from '../../events/format.ts';
import { sanitize } from '../../events/sanitize.ts';
import type { TextStyle } from '../../events/text-style.ts';
import { wrapText } from '../../events/text-width.ts';
import { type DoctorResult, runDoctor } from '../../runtime/doctor.ts';
import { createRenderContext, type RenderContext } from '../../terminal/render-context.ts';
import type { CommandHandler } from '../command.ts';
import { getTextOption } from '../parsed-options.ts';

/** `raymond doctor`: checks everything that a run needs, and says what to do if something is missing. */
export const handleDoctor: CommandHandler = async (_args, options, terminal) => {
  const { cwd, env, out } = terminal;
  const context = createRenderContext(terminal);
  const diagnoses: DoctorResult[] = [];
  for await (const diagnosis of runDoctor({
    cwd,
    env,
    claude: getTextOption(options, 'claude') ?? null,
    ask: options.ask === true,
  })) {
    diagnoses.push(diagnosis);
    if (!options.json) out(`${renderDiagnosis(diagnosis, context).join('\n')}\n`);
  }
  const ok = diagnoses.every(({ level }) => level !== 'error');
  out(options.json ? `${formatJson({ ok, checks: diagnoses }, 2)}\n` : `\n${summarizeDiagnoses(diagnoses)}\n`);
  return ok ? EXIT.completed : EXIT.usage;
};

const MARKS: Readonly<Record<DoctorResult['level'], readonly [mark: string, style: TextStyle]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  error: ['✗', 'red'],
  skipped: ['-', 'dim'],
};

const NAME_WIDTH = 13;

function renderDiagnosis(
  { name, level, message, remedy = '' }: DoctorResult,
  { columns, colorize }: RenderContext,
): readonly string[] {
  const [mark, style] = MARKS[level];
  const paragraphs = [...sanitize(message).split('\n'), ...(remedy === '' ? [] : [`→ ${sanitize(remedy)}`])];
  const lines = paragraphs.flatMap((line) => wrapText(line, columns - NAME_WIDTH - 2));
  return lines.map((line, at) => `${at === 0 ? `${colorize(style, mark)} ${name.padEnd(NAME_WIDTH)}` : INDENT}${line}`);
}

const INDENT = ' '.repeat(NAME_WIDTH + 2);

function summarizeDiagnoses(diagnoses: readonly DoctorResult[]): string {
  const [errors = 0, warnings = 0] = ['error', 'warning'].map(
    (of) => diagnoses.filter(({ level }) => level === of).length,
  );
  if (errors > 0) return `${formatCount(errors, 'problem')} to fix first: see ✗.`;
  return warnings > 0 ? `Ready to run. ${formatCount(warnings, 'thing')} to know about: see !.` : 'Ready to run.';
}
