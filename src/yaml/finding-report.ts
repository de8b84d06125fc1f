import type { FileFinding } from '../language/state.ts';
import type { TextPosition } from '../language/text/text.ts';

/** Gathers what is wrong with one file, so that all problems of a file are reported together. */
export interface FindingReport {
  error(at: TextPosition, message: string): void;
  warning(at: TextPosition, message: string): void;
  readonly findings: readonly FileFinding[];
}

/** Creates an empty report about this file. */
export function newFindingReport(file: string): FindingReport {
  const findings: FileFinding[] = [];
  const add = (level: FileFinding['level'], at: TextPosition, message: string): void => {
    // A message may quote a name with a line break in it; a finding is still one line.
    findings.push({ level, file, ...at, message: message.replace(/[\r\n]+/g, ' ') });
  };
  return {
    error: (at, message) => add('error', at, message),
    warning: (at, message) => add('warning', at, message),
    findings,
  };
}

/** True if a finding keeps the workflow from running. */
export const isErrorFinding = (finding: FileFinding): boolean => finding.level === 'error';

const MAX_QUOTE_LENGTH = 60;

/** Quotes something that an author wrote, for a message of one line. */
export function quoteInMessage(text: string): string {
  const short = text.length > MAX_QUOTE_LENGTH ? `${text.slice(0, MAX_QUOTE_LENGTH)}…` : text;
  const visible = JSON.stringify(short).slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\');
  return `\`${visible}\``;
}
