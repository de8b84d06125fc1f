import type { LintFinding } from '../../lint/lint.ts';
import type { LintLevel } from '../../lint/rule.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import type { LintReport } from '../../runtime/lint-workflow.ts';
import { formatFindingLocation } from './lint-report.ts';

const ANNOTATION_COMMANDS: Readonly<Record<LintLevel, string>> = { error: 'error', warning: 'warning', info: 'notice' };

/** A finding as a command that GitHub Actions makes an annotation of, in the file and in the summary of the job. */
export function formatAnnotation(finding: LintFinding, { path, isZip }: Pick<LintReport, 'path' | 'isZip'>): string {
  const { level, rule, file, line, column, message, hint } = finding;
  // What is inside a zip is no file of the repository: the zip is.
  const position = line === 0 || isZip ? [] : [`line=${line}`, `col=${column}`];
  const locationPrefix = isZip && file !== path ? `${formatFindingLocation(finding)}: ` : '';
  const annotatedFile = isZip ? path : file;
  const properties = [
    `file=${escapeProperty(annotatedFile.replaceAll('\\', '/'))}`,
    ...position,
    `title=${escapeProperty(rule)}`,
  ];
  const text = `${locationPrefix}${sanitizeLine(message).replace(/\.$/, '')}. ${sanitizeLine(hint)}`;
  return `::${ANNOTATION_COMMANDS[level]} ${properties.join(',')}::${escapeData(text)}`;
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
