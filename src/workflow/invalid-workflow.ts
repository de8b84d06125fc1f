import type { Finding } from '../core/state.ts';
import { WHOLE_FILE } from '../core/text-position.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { isErrorFinding } from '../yaml/finding-report.ts';

/** A workflow that cannot run as it stands, with everything that was found in it, warnings included. */
export class InvalidWorkflow extends RaymondError {
  readonly findings: readonly Finding[];

  constructor(name: string, findings: readonly Finding[]) {
    const errors = findings.filter(isErrorFinding);
    const count = errors.length === 1 ? '1 error' : `${errors.length} errors`;
    super(`${name} cannot be run: ${count}\n${errors.map(formatWorkflowFinding).join('\n')}`, {
      exitCode: EXIT.invalid,
    });
    this.name = 'InvalidWorkflow';
    this.findings = findings;
  }
}

/** A workflow with one thing wrong that concerns all of this file. */
export function invalidWorkflowFile(file: string, message: string): InvalidWorkflow {
  return new InvalidWorkflow(file, [{ severity: 'error', file, ...WHOLE_FILE, message }]);
}

/** `FILE:LINE:COLUMN: message`, the form that editors and terminals make a link of. */
export function formatWorkflowFinding({ file, line, column, message }: Finding): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
}
