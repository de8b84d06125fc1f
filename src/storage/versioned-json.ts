import type { z } from 'zod';
import { RUN_VERSION } from '../core/run/run.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { tryParseJson } from '../language/text/json.ts';
import type { ChecksumState } from './checksum.ts';
import { MIGRATIONS } from './migrations.ts';

/** Validates data of a file; the error names the first place that is wrong. */
export function validateWith<T>(schema: z.ZodType<T>, data: unknown, file: string): T {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue === undefined || issue.path.length === 0 ? 'its top level' : `\`${issue.path.join('.')}\``;
  throw invalidStateFileError(`${file} is not a state file of Raymond: ${place}: ${issue?.message ?? 'wrong shape'}.`);
}

/** Parses data of a run of any version; without `checksum` the text is not that of a state file, and needs none. */
export function parseVersionedJson(text: string, file: string, checksum?: ChecksumState): unknown {
  if (checksum === 'wrong') throw new DamagedRunFile(file, 'its checksum does not match');
  const data = parseJson(text, file);
  if (checksum === undefined) return migrateRunData(data, file);
  if (typeof data !== 'object' || data === null) throw new DamagedRunFile(file, 'it is not a JSON object');
  const { checksum: _checksum, ...content }: { readonly checksum?: unknown; readonly version?: unknown } = data;
  const migrated = migrateRunData(content, file);
  if (checksum === 'none' && content.version !== VERSION_WITHOUT_CHECKSUM)
    throw new DamagedRunFile(file, 'its checksum is missing');
  return migrated;
}

const VERSION_WITHOUT_CHECKSUM = 1;

/** Turns data of a run of any version into the current one; `file` is only for messages. */
export function migrateRunData(data: unknown, file: string): object {
  if (typeof data !== 'object' || data === null || !('version' in data))
    throw new DamagedRunFile(file, 'it has no `version`');
  const migrate = MIGRATIONS.get(data.version);
  if (migrate === undefined) throw unknownVersionError(file, data.version);
  return migrate(data);
}

function parseJson(text: string, file: string): unknown {
  const data = tryParseJson(text);
  if (data === undefined) throw new DamagedRunFile(file, 'it is not JSON');
  return data;
}

const unknownVersionError = (file: string, version: unknown): RaymondError =>
  invalidStateFileError(
    `${file} has version ${JSON.stringify(version)}; this Raymond reads versions 1 to ${RUN_VERSION}.`,
  );

/** The error for a state file with other bytes than Raymond wrote. */
export class DamagedRunFile extends RaymondError {
  constructor(file: string, why: string, cause?: unknown) {
    super(`${file} is not as Raymond wrote it: ${why}.`, {
      exitCode: EXIT.invalid,
      hint: 'The file was left untouched. Bring it back as it was, say from a backup, or start a new run.',
      cause,
    });
  }
}

/** The error for a file that this Raymond cannot have written. */
export const invalidStateFileError = (message: string, cause?: unknown): RaymondError =>
  new RaymondError(message, {
    exitCode: EXIT.invalid,
    hint: 'The file was left untouched. Use the Raymond that wrote it, or start a new run.',
    cause,
  });
