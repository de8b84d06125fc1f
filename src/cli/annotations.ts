import type { LintFinding } from '../analysis/lint.ts';
import type { Level } from '../analysis/rule.ts';
import { oneLine } from '../observers/harmless.ts';

const COMMANDS: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', info: 'notice' };

/** A finding as a command that GitHub Actions makes an annotation of, in the file and in the summary of the job. */
export function annotationOf({ level, rule, file, line, column, message, hint }: LintFinding): string {
  const place = line === 0 ? [] : [`line=${line}`, `col=${column}`];
  const properties = [`file=${property(file.replaceAll('\\', '/'))}`, ...place, `title=${property(rule)}`];
  return `::${COMMANDS[level]} ${properties.join(',')}::${data(`${oneLine(message).replace(/\.$/, '')}. ${oneLine(hint)}`)}`;
}

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
