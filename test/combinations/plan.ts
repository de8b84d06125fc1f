import fc from 'fast-check';
import type { CrashDef, StopDef, WorkflowForm } from './case.ts';

/*
 * A plan says which features an agent meets one after the other. It is what fast-check generates and shrinks; `build-case.ts` makes
 * states and answers of it. What happens in the end, such as a `stack="clear"` that drops the rest, only the model knows.
 */

/** The ways in which a state leads to the next one. */
export const EXITS = [
  'goto',
  'goto-input',
  'goto-file',
  'compact',
  'reset',
  'reset-clear',
  'reset-cd',
  'reset-task',
  'reset-input',
  'call',
  'function',
  'call-workflow',
  'function-workflow',
  'reset-workflow',
  'fork',
  'fork-goto',
  'fork-join',
  'fork-each',
  'fork-each-join',
  'fork-each-as',
  'fork-each-empty',
  'fork-worktree',
  'fork-worktree-join',
  'fork-workflow',
  'join',
  'join-any',
  'join-cancel',
  'join-timeout',
  'join-group',
  'ask',
  'ask-late',
  'ask-timeout',
  'ask-upload',
  'ask-files',
  'ask-choices',
  'implicit',
  'implicit-input',
  'forced',
  'on-error',
  'on-timeout',
  'on-no-tag',
  'on-too-long',
  'on-denied',
  'on-stuck',
  'on-max-visits',
  'on-max-visits-call',
  'match',
  'unless',
  'gate',
  'judge',
  'loop',
  'late-file',
  'late-folder',
  'late-items',
] as const;

/** What else happens in a state before it leads on. */
export const EXTRAS = [
  'print',
  'no-tag',
  'cut-tag',
  'two-tags',
  'unknown-state',
  'forbidden-tag',
  'retry',
  'continue',
  'usage-limit',
  'lost',
  'say',
  'deny',
  'summary-fails',
  'confirm-match',
  'confirm-gate',
  'confirm-judge',
  'judge-reminded',
  'gate-fails',
  'preference',
  'schema',
  'retry-guard',
  'repeatable',
  'max-visits',
  'pause',
  'refuse',
  'interrupt',
  'interrupt-ask',
  'budget',
  'missing-file',
  'missing-folder',
  'quota-half',
  'quota-full',
  'write',
] as const;

/** The ways in which an agent or a callee comes to its end. */
export const ENDS = ['result', 'schema', 'bad-schema', 'payload', 'override', 'fail', 'limited', 'hang'] as const;

export type Exit = (typeof EXITS)[number];
export type Extra = (typeof EXTRAS)[number];
export type End = (typeof ENDS)[number];

/** A state on the way of an agent. */
export interface StepPlan {
  readonly runs: 'prompt' | 'script' | 'real';
  readonly exit: Exit;
  readonly extras: readonly Extra[];
  readonly hasPolicy: boolean;
  /** In micro-dollars, for each of its turns. */
  readonly cost: number;
  readonly form: WorkflowForm;
  /** The way of the callee or of the worker that it starts. */
  readonly inner: WayPlan | null;
}

/** The way of an agent, or of a callee until it returns. */
export interface WayPlan {
  readonly steps: readonly StepPlan[];
  readonly end: End;
  readonly endExtras: readonly Extra[];
  readonly endsInScript: boolean;
}

/** A whole case. */
export interface Plan {
  readonly main: WayPlan;
  readonly input: string | null;
  readonly hasVars: boolean;
  readonly parallel: number;
  readonly maxIterations: number | null;
  readonly crashes: readonly CrashDef[];
  readonly stops: readonly StopDef[];
  readonly slowAt: number | null;
  readonly reserve: number | null;
  readonly waits: boolean;
  readonly usesWorkspace: boolean;
}

const extras = (max: number): fc.Arbitrary<readonly Extra[]> =>
  fc.uniqueArray(fc.constantFrom(...EXTRAS), { maxLength: max, size: 'max' });

const endOf = (isInner: boolean): fc.Arbitrary<End> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<End>('result', 'schema', 'payload', 'override', 'bad-schema') },
    {
      weight: 1,
      arbitrary: fc.constantFrom<End>(
        ...(isInner ? (['fail', 'limited', 'hang'] as const) : (['fail', 'limited'] as const)),
      ),
    },
  );

function way(depth: number, maxSteps: number): fc.Arbitrary<WayPlan> {
  return fc.record({
    steps: fc.array(step(depth), { maxLength: maxSteps, minLength: depth === 0 ? 1 : 0, size: 'max' }),
    end: endOf(depth > 0),
    endExtras: extras(2),
    endsInScript: fc.boolean(),
  });
}

const INNER_SIZES = [4, 2, 0];

function step(depth: number): fc.Arbitrary<StepPlan> {
  const inner = depth >= 2 ? fc.constant(null) : way(depth + 1, INNER_SIZES[depth + 1] ?? 0);
  return fc.record({
    runs: fc.oneof(
      { weight: 12, arbitrary: fc.constant<'prompt'>('prompt') },
      { weight: 5, arbitrary: fc.constant<'script'>('script') },
      { weight: 1, arbitrary: fc.constant<'real'>('real') },
    ),
    exit: fc.constantFrom(...EXITS),
    extras: extras(3),
    hasPolicy: fc.boolean(),
    cost: fc.integer({ min: 0, max: 90 }),
    form: fc.constantFrom('folder', 'yaml', 'zip'),
    inner,
  });
}

const POINTS = fc.constantFrom<CrashDef['at']>('saved', 'prepare', 'save', 'take', 'taken');

/** Generates plans. */
export const PLANS: fc.Arbitrary<Plan> = fc.record({
  main: way(0, 9),
  input: fc.option(fc.constantFrom('first', 'a "quoted" one', '{"n": 1}'), { nil: null }),
  hasVars: fc.boolean(),
  parallel: fc.constantFrom(8, 1, 2),
  maxIterations: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null, freq: 6 }),
  crashes: fc.array(fc.record({ at: POINTS, nth: fc.integer({ min: 1, max: 25 }) }), { maxLength: 3 }),
  stops: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.record({
          at: POINTS,
          nth: fc.integer({ min: 1, max: 25 }),
          how: fc.constantFrom<StopDef['how']>('stop', 'interrupt', 'kill'),
        }),
        { maxLength: 2 },
      ),
    },
  ),
  slowAt: fc.option(fc.constantFrom(50, 80), { nil: null, freq: 2 }),
  reserve: fc.option(fc.constantFrom(5, 20), { nil: null, freq: 2 }),
  waits: fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  usesWorkspace: fc.oneof({ weight: 19, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
