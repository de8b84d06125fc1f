import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import type { CheckedResult } from '../core/answers/checked-results.ts';
import type { JsonSchema } from '../language/state.ts';
import { describeJsonProblem, tryParseJson } from '../language/text/json.ts';
import { loadMatchers } from '../patterns/matcher.ts';

/** A mistake in a schema, at a JSON pointer. */
export interface SchemaProblem {
  readonly pointer: string;
  readonly message: string;
}

/** A schema as JSON, which is also what compiled schemas are remembered by. */
export interface SchemaRequest {
  readonly schema: string;
  /** True if patterns must be matched in linear time where possible. */
  readonly isHostile: boolean;
}

/** A schema, and the text of a `<result>` that must fit it. */
export interface CheckRequest extends SchemaRequest {
  readonly text: string;
}

/** Finds the mistakes in a JSON Schema, in this thread. */
export async function findSchemaProblemsHere(request: SchemaRequest): Promise<readonly SchemaProblem[]> {
  const compiled = await compile(request);
  if ('problems' in compiled) return compiled.problems;
  try {
    for (const sample of [null, '', [], {}]) compiled.validate(sample);
    return [];
  } catch (error) {
    return [{ pointer: '', message: error instanceof RangeError ? ENDLESS : errorTextOf(error) }];
  }
}

/** Checks the text of a `<result>`, in this thread. A text that is no JSON counts as a string. */
export async function checkResultHere({ text, ...schema }: CheckRequest): Promise<CheckedResult> {
  const compiled = await compile(schema);
  if ('problems' in compiled) return { problem: `its schema is not valid: ${compiled.problems[0]?.message ?? ''}` };
  const json = /^```\w*[ \t]*\r?\n([\s\S]*?)\r?\n?```$/.exec(text)?.[1] ?? text;
  const value = tryParseJson(json);
  try {
    if (value === undefined) return compiled.validate(text) ? { text } : { problem: explainNoJson(json) };
    if (compiled.validate(value)) return { text: json };
    return {
      problem: explainErrors(text.length > MAX_EXPLAINED_LENGTH ? compiled.validate.errors : compiled.list(value)),
    };
  } catch (error) {
    // The stack was too small for it. Values are nested only so deep: it must be the schema.
    if (error instanceof RangeError) return { problem: ENDLESS, cannotCheck: true };
    // A pattern may turn out to be too large only when it is used.
    if (error instanceof SyntaxError) return { problem: error.message, cannotCheck: true };
    throw error;
  }
}

const errorTextOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const ENDLESS = 'the schema refers to itself without end';

/** Of a longer text, only the first mistake is reported: a list of all may have millions. */
const MAX_EXPLAINED_LENGTH = 50_000;

interface Validator {
  /** Stops at the first mistake. */
  readonly validate: ValidateFunction;
  /** Lists all mistakes. */
  readonly list: (value: unknown) => readonly ErrorObject[];
}

type Compiled = Validator | { readonly problems: readonly SchemaProblem[] };

/** The same few schemas are used again and again; more than these are compiled anew. */
const MAX_KEPT = 100;
const kept = new Map<string, Promise<Compiled>>();

function compile(request: SchemaRequest): Promise<Compiled> {
  const key = `${request.isHostile}${request.schema}`;
  const known = kept.get(key) ?? compileAnew(request);
  if (kept.size >= MAX_KEPT && !kept.has(key)) kept.clear();
  kept.set(key, known);
  return known;
}

const OPTIONS: Options = {
  // A misspelt keyword would check nothing.
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  validateFormats: false,
  logger: false,
  verbose: true,
};

async function compileAnew(request: SchemaRequest): Promise<Compiled> {
  const schema = JSON.parse(request.schema) as JsonSchema;
  // Loaded late: a run without a schema does not need it.
  const isOlder = typeof schema === 'object' && /draft-0[67]/.test(String(schema.$schema ?? ''));
  const AnyAjv = isOlder ? (await import('ajv')).Ajv : (await import('ajv/dist/2020.js')).Ajv2020;
  const options = request.isHostile ? { ...OPTIONS, code: { regExp: await linearPatterns() } } : OPTIONS;
  const ajv = new AnyAjv(options);
  try {
    if (!ajv.validateSchema(schema)) return { problems: describeSchemaErrors(ajv.errors ?? []) };
    let lister: ValidateFunction | undefined;
    const list = (value: unknown): readonly ErrorObject[] => {
      lister ??= new AnyAjv({ ...options, allErrors: true }).compile(schema);
      lister(value);
      return lister.errors ?? [];
    };
    return { validate: ajv.compile(schema), list };
  } catch (error) {
    const message = error instanceof RangeError ? ENDLESS : errorTextOf(error);
    return { problems: [{ pointer: '', message: explainRefusal(message) }] };
  }
}

async function linearPatterns(): Promise<NonNullable<NonNullable<Options['code']>['regExp']>> {
  return Object.assign(await loadMatchers(), { code: 'unused: no code is generated to be saved' });
}

function describeSchemaErrors(errors: readonly ErrorObject[]): readonly SchemaProblem[] {
  const problems = new Map<string, SchemaProblem>();
  for (const error of errors) {
    const { instancePath: pointer, data } = error;
    // The first of a place says what is wrong there, the others what else it could have been.
    if (!problems.has(pointer))
      problems.set(pointer, {
        pointer,
        message: `${describeError(error)}, not ${shorten(JSON.stringify(data) ?? '')}`,
      });
  }
  return [...problems.values()].slice(0, MAX_PROBLEMS);
}

const MAX_VALUE_LENGTH = 60;

const shorten = (text: string, length = MAX_VALUE_LENGTH): string =>
  text.length <= length ? text : `${text.slice(0, length)}…`;

/** Rewords ajv's complaint about an invalid schema. */
function explainRefusal(message: string): string {
  const [, keyword] = /unknown keyword: "(.*)"/.exec(message) ?? [];
  if (keyword !== undefined) return `\`${keyword}\` is no keyword of it`;
  const [, reference] = /can't resolve reference (\S+)/.exec(message) ?? [];
  if (reference === undefined) return shorten(message.replace(/^strict mode: /, ''), MAX_MESSAGE_LENGTH);
  return `\`$ref\` \`${shorten(reference)}\` leads to no place in this schema, and no other is read`;
}

const MAX_PROBLEMS = 3;
const MAX_MESSAGE_LENGTH = 500;

function explainErrors(errors: readonly ErrorObject[] | null | undefined = []): string {
  const all = errors ?? [];
  const shown = all.slice(0, MAX_PROBLEMS).map((error) => {
    const place = error.instancePath === '' ? 'it' : `\`${shorten(error.instancePath, MAX_MESSAGE_LENGTH)}\``;
    return `${place} ${shorten(describeError(error), MAX_MESSAGE_LENGTH)}`;
  });
  const more = all.length > MAX_PROBLEMS ? `, and ${all.length - MAX_PROBLEMS} more` : '';
  return `${shown.join('; ')}${more}`;
}

/** The message of ajv, with the values that it leaves out. */
function describeError({ keyword, message = 'does not fit', params }: ErrorObject): string {
  const { allowedValues, additionalProperty, allowedValue } = params as Readonly<Record<string, unknown>>;
  if (keyword === 'enum' && Array.isArray(allowedValues))
    return `must be one of ${allowedValues
      .slice(0, MAX_MESSAGE_LENGTH)
      .map((value) => JSON.stringify(value))
      .join(', ')}`;
  if (keyword === 'const') return `must be ${JSON.stringify(allowedValue)}`;
  if (keyword === 'additionalProperties') return `must not have \`${String(additionalProperty)}\``;
  return message;
}

function explainNoJson(text: string): string {
  if (text.trim() === '') return 'it is empty and should be JSON';
  const reason = describeJsonProblem(text) ?? '';
  return `it is not JSON (${shorten(reason, 100)})`;
}
