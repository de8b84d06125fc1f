import type { LintFinding } from '../analysis/lint.ts';
import type { Level } from '../analysis/rule.ts';
import { oneLine } from '../observers/harmless.ts';
import type { LintReport } from '../raymond/lint.ts';
import { placeOf } from './lint-page.ts';

const COMMANDS: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', info: 'notice' };

/** A finding as a command that GitHub Actions makes an annotation of, in the file and in the summary of the job. */
export function annotationOf(finding: LintFinding, { path, isZip }: Pick<LintReport, 'path' | 'isZip'>): string {
  const { level, rule, file, line, column, message, hint } = finding;
  // What is inside a zip is no file of the repository: the zip is.
  const place = line === 0 || isZip ? [] : [`line=${line}`, `col=${column}`];
  const within = isZip && file !== path ? `${placeOf(finding)}: ` : '';
  const shown = isZip ? path : file;
  const properties = [`file=${property(shown.replaceAll('\\', '/'))}`, ...place, `title=${property(rule)}`];
  const text = `${within}${oneLine(message).replace(/\.$/, '')}. ${oneLine(hint)}`;
  return `::${COMMANDS[level]} ${properties.join(',')}::${data(text)}`;
}

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
