import { errorCodeOf } from '../errors.ts';
import { type InvalidWorkflow, invalidWorkflowFile } from './invalid-workflow.ts';

/**
 * Where the files of a workflow come from. Nothing else knows whether that is a folder or a zip.
 * What cannot be listed or read is an InvalidWorkflow.
 */
export interface WorkflowFiles {
  /** What to call it in a message. */
  readonly name: string;
  /** The names of its files as they are now, sorted; no folders, no dot files. */
  list(): Promise<readonly string[]>;
  /** The bytes of one of them as they are now. */
  read(file: string): Promise<Uint8Array>;
  /** Where one of them lies on disk by itself; null if it does not. */
  pathOf(file: string): string | null;
}

const REASON_BY_CODE: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it does not exist (any more)',
  ENOTDIR: 'it does not exist (any more)',
  EISDIR: 'it is a folder',
  ELOOP: 'its links go round in a circle',
  ENAMETOOLONG: 'the name is too long',
};

/** Why the system would not let us read something, in words. */
export function explainUnreadableFile(error: unknown): string {
  const code = errorCodeOf(error);
  return REASON_BY_CODE[code] ?? (error instanceof Error ? error.message : code);
}

/** What a source throws when the system will not let it read. */
export const unreadableWorkflowFile = (name: string, error: unknown): InvalidWorkflow =>
  invalidWorkflowFile(name, `it cannot be read: ${explainUnreadableFile(error)}`);
