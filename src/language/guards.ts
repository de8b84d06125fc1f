import type { FailureKind } from './failure.ts';
import { resolveState, type Scope } from './state-names.ts';

/** The outcomes of a state that its frontmatter can make transitions. */
export const GUARD_OUTCOMES = ['error', 'timeout', 'denied', 'too_long', 'no_tag', 'max_visits', 'stuck'] as const;

/** An outcome of a state that a guard can catch. */
export type GuardOutcome = (typeof GUARD_OUTCOMES)[number];

/** The guards of a state: what is done if it fails, is entered too often or makes no progress. */
export interface Guards {
  /** How often it is tried again after a failure; null for as often as the run says. */
  readonly retry: number | null;
  /** The state to continue in, by outcome. Where a state is entered, its file. */
  readonly on: Readonly<Partial<Record<GuardOutcome, string>>>;
  /** True if `max_visits` counts all visits of the agent, or those within one call. */
  readonly maxVisitsPer: 'agent' | 'call';
  /** How many visits in a row may end alike, and which files show progress; null files stand for the git repository. */
  readonly stuck: { readonly after: number; readonly files: readonly string[] | null } | null;
}

/** An outcome that a guard caught, by the name of the guard: it may be `error` for any failure. */
export interface CaughtOutcome {
  readonly outcome: GuardOutcome;
  /** The text about the event for the next state. */
  readonly message: string;
}

/** Outcomes that are not failures of the state: only a guard of their own catches them, or a limit would be none. */
const LIMITS: ReadonlySet<GuardOutcome> = new Set(['max_visits']);

/** The outcomes that a script cannot have. */
export const PROMPT_OUTCOMES: ReadonlySet<GuardOutcome> = new Set(['denied', 'too_long']);

const OUTCOMES_OF_FAILURES: Readonly<Partial<Record<FailureKind, GuardOutcome>>> = {
  timeout: 'timeout',
  prompt_too_long: 'too_long',
  no_answer: 'no_tag',
};

/** The outcome of a state whose last turn failed in this way for good. */
export const outcomeOf = (failure: FailureKind): GuardOutcome => OUTCOMES_OF_FAILURES[failure] ?? 'error';

/** True if a guard of this outcome leads into a new conversation, as far as the outcome alone tells. */
export const startsNewSession = (outcome: GuardOutcome): boolean => outcome === 'too_long';

/** The key of `on` that catches an outcome: its own, or `error` for a failure. */
export function findGuard(on: Guards['on'], outcome: GuardOutcome): GuardOutcome | undefined {
  if (on[outcome] !== undefined) return outcome;
  return !LIMITS.has(outcome) && on.error !== undefined ? 'error' : undefined;
}

/** The visits of an agent to one state that ended alike, the latest in a row. */
export interface Streak {
  readonly fingerprint: string;
  readonly visits: number;
}

/** The guards with the files of the states that they name. A name that finds none is kept as it is. */
export function resolveGuards(guards: Guards, scope: Scope): Guards {
  const named = Object.entries(guards.on).map(([outcome, name]) => {
    const found = resolveState(name, scope);
    return [outcome, found.kind === 'found' ? found.file : name] as const;
  });
  return { ...guards, on: Object.fromEntries(named) };
}
