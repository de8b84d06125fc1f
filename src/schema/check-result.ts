import type { CheckedResult } from '../core/answers/checked-results.ts';
import { type Computation, computeWithin } from '../deadline.ts';
import type { JsonSchema } from '../language/state.ts';
import { isSurelyQuick } from '../patterns/pattern-cost.ts';
import type { CheckRequest, SchemaProblem, SchemaRequest } from './validator.ts';

const CHECK: Computation<CheckRequest, CheckedResult> = { name: 'check_result', deadlineMs: 5_000 };
const FIND_PROBLEMS: Computation<SchemaRequest, readonly SchemaProblem[]> = {
  name: 'find_schema_problems',
  deadlineMs: 5_000,
};

/** Finds the mistakes in a JSON Schema: none if results can be checked with it. */
export async function findSchemaProblems(
  schema: JsonSchema,
  deadlineMs = FIND_PROBLEMS.deadlineMs,
): Promise<readonly SchemaProblem[]> {
  const json = JSON.stringify(schema);
  if (isCheap(schema, json, 0))
    return (await import('./validator.ts')).findSchemaProblemsHere({ schema: json, isHostile: false });
  const found = await computeWithin({ ...FIND_PROBLEMS, deadlineMs }, { schema: json, isHostile: true });
  return 'value' in found ? found.value : [{ pointer: '', message: `it takes ${LIMITS[found.exceeded]} to compile` }];
}

/** Checks the text of a `<result>`: it must be JSON that fits the schema. A text that is no JSON counts as a string. */
export async function checkResult(
  text: string,
  schema: JsonSchema,
  deadlineMs = CHECK.deadlineMs,
): Promise<CheckedResult> {
  const json = JSON.stringify(schema);
  if (isCheap(schema, json, text.length))
    return (await import('./validator.ts')).checkResultHere({ schema: json, text, isHostile: false });
  const checked = await computeWithin({ ...CHECK, deadlineMs }, { schema: json, text, isHostile: true });
  if ('value' in checked) return checked.value;
  return { problem: `to check it by \`result_schema\` takes ${LIMITS[checked.exceeded]}`, cannotCheck: true };
}

const LIMITS = { time: 'too long', memory: 'too much memory' } as const;

const MAX_CHEAP_SCHEMA = 20_000;
const MAX_CHEAP_STEPS = 5e6;

/**
 * True if a schema can be compiled, and a text of this length be checked, without a thread: without references, each part of a
 * schema is applied to each part of a value at most once.
 */
function isCheap(schema: JsonSchema, json: string, textLength: number): boolean {
  if (json.length > MAX_CHEAP_SCHEMA || /"\$(?:ref|dynamicRef|recursiveRef)"/.test(json)) return false;
  const comparisons = json.includes('"uniqueItems"') ? textLength : 1;
  if (json.length * textLength * comparisons > MAX_CHEAP_STEPS) return false;
  return (
    !/"(?:pattern|patternProperties)"/.test(json) ||
    listPatterns(schema).every((each) => isSurelyQuick(each, textLength))
  );
}

/** All patterns of a schema. What only looks like one, such as a property of that name, does no harm. */
function listPatterns(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) => [
    ...(key === 'pattern' && typeof each === 'string' ? [each] : []),
    ...(key === 'patternProperties' && typeof each === 'object' && each !== null ? Object.keys(each) : []),
    ...listPatterns(each),
  ]);
}
