import type { z } from 'zod';
import { didYouMean } from '../core/nearest.ts';
import { type Document, type Fault, valueAt } from './document.ts';
import { keysAt } from './schema.ts';

type Issue = z.core.$ZodIssue;

/** What is wrong, in sentences with a place, for the issues that the schema found. */
export function complaintsOf(
  issues: readonly Issue[],
  document: Document,
  above: readonly PropertyKey[] = [],
): readonly Fault[] {
  // Whether an answer says anything is no question while one of its keys is misspelt.
  const misspelt = issues.flatMap(({ code, path }) => (code === 'unrecognized_keys' ? [JSON.stringify(path)] : []));
  return issues
    .filter(({ code, path }) => code !== 'custom' || !misspelt.includes(JSON.stringify(path)))
    .flatMap((issue) => complaintOf(issue, document, above));
}

function complaintOf(issue: Issue, document: Document, above: readonly PropertyKey[]): readonly Fault[] {
  const path = [...above, ...issue.path];
  const value = valueAt(document.value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const meant = didYouMean(key, keysAt(path));
        return { ...document.placeOfKey([...path, key]), message: `the key \`${key}\` is unknown${meant}` };
      });
    case 'invalid_union': {
      const meant = issue.errors.find((branch) => !branch.some(isAnotherKind));
      if (meant !== undefined) return complaintsOf(meant, document, path);
      break;
    }
    case 'invalid_value': {
      const names = issue.values.map(String);
      if (typeof value !== 'string' || names.length === 1) break;
      return [
        {
          ...document.placeOf(path),
          message: `${named(path)} cannot be \`${value}\`${didYouMean(value, names) || `: it is one of ${names.join(', ')}`}`,
        },
      ];
    }
    case 'custom': {
      const place = issue.params?.key === true ? document.placeOfKey(path) : document.placeOf(path);
      return [{ ...place, message: issue.message }];
    }
  }
  if (path.length === 0 && (value === null || value === undefined)) {
    return [{ ...document.placeOf(path), message: `this file is empty: it must be ${issue.message}` }];
  }
  return [{ ...document.placeOf(path), message: `${named(path)} must be ${issue.message}, not ${describe(value)}` }];
}

/** A branch of a union that was never meant: the value is of another kind altogether. */
function isAnotherKind({ code, path, ...issue }: Issue): boolean {
  if (path.length > 0) return false;
  return code === 'invalid_type' || ('errors' in issue && issue.errors.every((branch) => branch.some(isAnotherKind)));
}

function named(path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'this file';
  const key = path.findLast((step) => typeof step === 'string');
  return typeof last === 'number' ? `entry ${last + 1} of \`${String(key)}\`` : `\`${String(last)}\``;
}

const LONGEST_QUOTE = 60;

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a mapping';
  const written = String(value).replace(/\s+/g, ' ');
  const short = written.length > LONGEST_QUOTE ? `${written.slice(0, LONGEST_QUOTE)}…` : written;
  return typeof value === 'string' ? `the text \`${short}\`` : `\`${short}\``;
}
