import type { Finding } from '../core/state.ts';

/** A position in a file, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Gathers what is wrong with one file, so that its author hears of everything at once. */
export interface Report {
  error(at: Place, message: string): void;
  warning(at: Place, message: string): void;
  readonly findings: readonly Finding[];
}

/** The place of what concerns a file, or a workflow, as a whole. */
export const WHOLE: Place = { line: 0, column: 0 };

/** An empty report about this file. */
export function newReport(file: string): Report {
  const findings: Finding[] = [];
  const add = (severity: Finding['severity'], at: Place, message: string): void => {
    // A message may quote a name with a line break in it; a finding is one line all the same.
    findings.push({ severity, file, ...at, message: message.replace(/[\r\n]+/g, ' ') });
  };
  return {
    error: (at, message) => add('error', at, message),
    warning: (at, message) => add('warning', at, message),
    findings,
  };
}

/** Whether a finding keeps the workflow from running. */
export const isError = (finding: Finding): boolean => finding.severity === 'error';

const LONGEST_QUOTE = 60;

/** Something an author wrote, as a one-line message can quote it. */
export function quote(written: string): string {
  const short = written.length > LONGEST_QUOTE ? `${written.slice(0, LONGEST_QUOTE)}…` : written;
  const visible = JSON.stringify(short).slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\');
  return `\`${visible}\``;
}
