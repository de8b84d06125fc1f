import type { ErrorObject, ValidateFunction } from 'ajv';
import type { CheckedResult } from './core/checked-results.ts';
import { tryParseJson } from './core/json.ts';
import type { JsonSchema } from './core/state.ts';

/** A mistake in a schema, at a JSON pointer. */
export interface SchemaProblem {
  readonly pointer: string;
  readonly message: string;
}

/** Finds the mistakes in a JSON Schema: none if results can be checked with it. */
export async function findSchemaProblems(schema: JsonSchema): Promise<readonly SchemaProblem[]> {
  const compiled = await compile(schema);
  return 'problems' in compiled ? compiled.problems : [];
}

/** Checks the text of a `<result>`: it must be JSON that fits the schema. A text that is no JSON counts as a string. */
export async function checkResult(text: string, schema: JsonSchema): Promise<CheckedResult> {
  const compiled = await compile(schema);
  if ('problems' in compiled) return { problem: `its schema is not valid: ${compiled.problems[0]?.message ?? ''}` };
  const { validate } = compiled;
  const json = /^```\w*[ \t]*\r?\n([\s\S]*?)\r?\n?```$/.exec(text)?.[1] ?? text;
  const value = tryParseJson(json);
  if (value === undefined) return validate(text) ? { text } : { problem: explainNoJson(json) };
  return validate(value) ? { text: json } : { problem: explainErrors(validate.errors ?? []) };
}

type Compiled = { readonly validate: ValidateFunction } | { readonly problems: readonly SchemaProblem[] };

/** The same few schemas are used again and again; more than these are compiled anew. */
const MAX_KEPT = 100;
const kept = new Map<string, Promise<Compiled>>();

function compile(schema: JsonSchema): Promise<Compiled> {
  const key = JSON.stringify(schema);
  const known = kept.get(key) ?? compileAnew(schema);
  if (kept.size >= MAX_KEPT && !kept.has(key)) kept.clear();
  kept.set(key, known);
  return known;
}

async function compileAnew(schema: JsonSchema): Promise<Compiled> {
  // Loaded late: a run without a schema does not need it.
  const isOlder = typeof schema === 'object' && /draft-0[67]/.test(String(schema.$schema ?? ''));
  const Validator = isOlder ? (await import('ajv')).Ajv : (await import('ajv/dist/2020.js')).Ajv2020;
  const ajv = new Validator({
    allErrors: true,
    // A misspelt keyword would check nothing.
    strictSchema: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    logger: false,
    verbose: true,
  });
  try {
    if (!ajv.validateSchema(schema)) {
      const problems = new Map<string, SchemaProblem>();
      for (const error of ajv.errors ?? []) {
        const { instancePath: pointer, data } = error;
        const value = JSON.stringify(data)?.slice(0, MAX_VALUE_LENGTH) ?? '';
        // The first of a place says what is wrong there, the others what else it could have been.
        if (!problems.has(pointer))
          problems.set(pointer, { pointer, message: `${describeError(error)}, not ${value}` });
      }
      return { problems: [...problems.values()].slice(0, MAX_PROBLEMS) };
    }
    return { validate: ajv.compile(schema) };
  } catch (error) {
    return {
      problems: [{ pointer: '', message: explainRefusal(error instanceof Error ? error.message : String(error)) }],
    };
  }
}

const MAX_VALUE_LENGTH = 60;

/** What ajv says about a schema that it does not take, in other words. */
function explainRefusal(message: string): string {
  const [, keyword] = /unknown keyword: "(.*)"/.exec(message) ?? [];
  if (keyword !== undefined) return `\`${keyword}\` is no keyword of it`;
  const [, reference] = /can't resolve reference (\S+)/.exec(message) ?? [];
  if (reference === undefined) return message.replace(/^strict mode: /, '');
  return `\`$ref\` \`${reference}\` leads to no place in this schema, and no other is read`;
}

const MAX_PROBLEMS = 3;

function explainErrors(errors: readonly ErrorObject[]): string {
  const shown = errors.slice(0, MAX_PROBLEMS).map((error) => {
    return `${error.instancePath === '' ? 'it' : `\`${error.instancePath}\``} ${describeError(error)}`;
  });
  const more = errors.length > MAX_PROBLEMS ? `, and ${errors.length - MAX_PROBLEMS} more` : '';
  return `${shown.join('; ')}${more}`;
}

/** What ajv says, with the values that it leaves out. */
function describeError({ keyword, message = 'does not fit', params }: ErrorObject): string {
  const { allowedValues, additionalProperty, allowedValue } = params as Readonly<Record<string, unknown>>;
  if (keyword === 'enum' && Array.isArray(allowedValues))
    return `must be one of ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
  if (keyword === 'const') return `must be ${JSON.stringify(allowedValue)}`;
  if (keyword === 'additionalProperties') return `must not have \`${String(additionalProperty)}\``;
  return message;
}

function explainNoJson(text: string): string {
  if (text.trim() === '') return 'it is empty and should be JSON';
  try {
    JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    return `it is not JSON (${reason.replace(/[\r\n]+/g, ' ').slice(0, 100)})`;
  }
  return 'it is not JSON';
}
