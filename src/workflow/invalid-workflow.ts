import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import type { FileFinding } from '../language/state.ts';
import { WHOLE_FILE } from '../language/text/text.ts';
import { isErrorFinding } from '../yaml/finding-report.ts';

/** An error about a workflow that cannot run as it is, with everything that was found in it, warnings included. */
export class InvalidWorkflow extends RaymondError {
  readonly findings: readonly FileFinding[];

  constructor(name: string, findings: readonly FileFinding[]) {
    const errors = findings.filter(isErrorFinding);
    const count = errors.length === 1 ? '1 error' : `${errors.length} errors`;
    super(`${name} cannot be run: ${count}\n${errors.map(formatWorkflowFinding).join('\n')}`, {
      exitCode: EXIT.invalid,
    });
    this.name = 'InvalidWorkflow';
    this.findings = findings;
  }
}

/** Makes the error for one problem that concerns a whole file, or a whole workflow. */
export function invalidWorkflowFile(file: string, message: string): InvalidWorkflow {
  return new InvalidWorkflow(file, [{ level: 'error', file, ...WHOLE_FILE, message }]);
}

/** Makes the error for a file, folder or zip that the system does not let us read. */
export const unreadableWorkflowFile = (name: string, error: unknown): InvalidWorkflow =>
  invalidWorkflowFile(name, `it cannot be read: ${explainUnreadableFile(error)}`);

/** Formats a finding as `FILE:LINE:COLUMN: message`, which editors and terminals turn into a link. */
export function formatWorkflowFinding({ file, line, column, message }: FileFinding): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
}

const REASON_BY_CODE: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'the name is too long',
};

/** Explains a system error that kept us from reading something. */
export function explainUnreadableFile(error: unknown): string {
  const code = errorCodeOf(error);
  return REASON_BY_CODE[code] ?? (error instanceof Error ? error.message : code);
}
