import { type DoctorRequest, type DoctorResult, okResult, runDoctor, warningResult } from '../../app/doctor.ts';
import type { DoctorDocument } from '../../documents/types.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { formatCount } from '../../render/format.ts';
import { sanitize } from '../../render/sanitize.ts';
import { createRenderContext, type RenderContext, type Terminal } from '../../render/terminal/terminal.ts';
import type { TextStyle } from '../../render/text-style.ts';
import { wrapText } from '../../render/text-width.ts';
import type { CommandHandler, ParsedOptions } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
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
    checkDatabase: chooseDatabaseCheck(options, terminal),
  })) {
    diagnoses.push(diagnosis);
    if (!options.json) out(`${renderDiagnosis(diagnosis, context).join('\n')}\n`);
  }
  const ok = diagnoses.every(({ level }) => level !== 'error');
  const document: DoctorDocument = { ok, checks: diagnoses };
  out(options.json ? `${formatJson(document, 2)}\n` : `\n${summarizeDiagnoses(diagnoses)}\n`);
  return ok ? EXIT.completed : EXIT.usage;
};

/** The check of the database that runs started here would be in; null if they would be in files. */
function chooseDatabaseCheck(options: ParsedOptions, terminal: Terminal): DoctorRequest['checkDatabase'] {
  const address = findConfiguredAddress(options, terminal);
  if (address === null) return null;
  return () =>
    withStorage(address, { ...terminal, err: () => {} }, async ({ storage, launcher }) => {
      const nodes = await launcher.listNodes();
      const alive = nodes.filter(({ status }) => status === 'alive');
      const slots = alive.reduce((sum, node) => sum + node.slots, 0);
      if (alive.length === 0)
        return warningResult(
          `${storage.name}: prepared, but no node is alive, so no run would start`,
          'Start one with `raymond node`.',
        );
      return okResult(`${storage.name}: ${formatCount(alive.length, 'node')} alive, ${formatCount(slots, 'slot')}`);
    });
}

/** A mistake in a config file is reported by its own check. */
function findConfiguredAddress(options: ParsedOptions, terminal: Terminal): string | null {
  try {
    return findDatabaseAddress(options, terminal);
  } catch {
    return null;
  }
}

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
