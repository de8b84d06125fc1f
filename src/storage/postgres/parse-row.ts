import { z } from 'zod';
import { EXIT, errorMessageOf, RaymondError } from '../../errors.ts';
import { describeJsonProblem, tryParseJson } from '../../language/text/json.ts';

const MAX_QUOTED_CHARS = 120;

/** Parses JSON that another machine wrote; `row` names it in the error: `the outcome of r1/main/3 in raymond.remote_turns`. */
export function parseRow<T>(schema: z.ZodType<T>, text: string, row: string): T {
  const data = tryParseJson(text);
  if (data === undefined) throw brokenRowError(row, text, describeJsonProblem(text) ?? 'it is not JSON');
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = z.core.toDotPath(issue?.path ?? []);
  throw brokenRowError(row, text, `${issue?.message}${path === '' ? '' : ` at ${path}`}`, parsed.error);
}

function brokenRowError(row: string, text: string, why: string, cause?: unknown): RaymondError {
  const quoted = text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text;
  return new RaymondError(`${row} cannot be read: ${why}. It is: ${quoted}`, {
    exitCode: EXIT.invalid,
    hint: 'Use the same version of Raymond on all machines, or restore the database from a backup.',
    cause,
  });
}

/** Parses rows one by one: a broken one is reported and left out, so that it does not hold up the others. */
export function parseEachRow<Row, T>(
  rows: readonly Row[],
  parse: (row: Row) => T,
  report: (message: string, row: Row) => void,
): readonly T[] {
  return rows.flatMap((row) => {
    try {
      return [parse(row)];
    } catch (error) {
      report(errorMessageOf(error), row);
      return [];
    }
  });
}

/** Passes each message on once: polls find the same broken row again and again. */
export function onceEach(report: (message: string) => void): (message: string) => void {
  const reported = new Set<string>();
  return (message) => {
    if (!reported.has(message)) report(message);
    reported.add(message);
  };
}
