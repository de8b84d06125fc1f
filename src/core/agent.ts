import type { FailureKind } from './failure.ts';
import type { Rules } from './policy.ts';
import type { Position } from './position.ts';

/** What a turn says to Claude Code: the state's prompt, a reminder of its tags, or to go on after an interruption. */
export type TurnPrompt =
  | { readonly kind: 'state' }
  | { readonly kind: 'reminder'; readonly text: string }
  | { readonly kind: 'continue' };

/** Which conversation a Claude turn uses; `id` is chosen before it starts, so that it is known whatever happens. */
export type SessionUse =
  | { readonly kind: 'new'; readonly id: string }
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'fork'; readonly id: string; readonly from: string };

/** A turn that is on record: it is under way, or was when the lights went out. */
export interface RunningTurn {
  /** Counted per agent, from 1. */
  readonly number: number;
  readonly prompt: TurnPrompt;
  /** Null for a script. */
  readonly session: SessionUse | null;
  readonly startedAt: number;
}

/**
 * What an agent is doing.
 *
 *   ready ──▶ running ──▶ ready, ended, failed, paused        a turn ended
 *     ▲          ├──────▶ sleeping ──▶ ready                  it is tried again later
 *     │          └──────▶ withheld                            the budget ran out before its answer was followed
 *     └── limited, paused, withheld, failed                   the user resumed the run
 */
export type Phase =
  /** `since` is the step in which it became ready: first come, first served. */
  | { readonly kind: 'ready'; readonly prompt: TurnPrompt; readonly since: number }
  | { readonly kind: 'running'; readonly turn: RunningTurn }
  | {
      readonly kind: 'sleeping';
      readonly why: 'retry' | 'usage_limit';
      readonly untilMs: number;
      readonly prompt: TurnPrompt;
    }
  | {
      readonly kind: 'withheld';
      readonly text: string;
      readonly denials: readonly string[];
      readonly folders: Readonly<Record<string, string | null>>;
    }
  | { readonly kind: 'limited'; readonly maxVisits: number }
  | {
      readonly kind: 'paused';
      readonly why: FailureKind | 'unreadable';
      readonly message: string;
      readonly prompt: TurnPrompt;
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ended'; readonly result: string };

/** A thread of control within a run: where it stands, what it is doing, what it has used up. */
export interface Agent extends Position {
  readonly id: string;
  readonly parent: string | null;
  /** The attributes of the fork it was born of. */
  readonly variables: Readonly<Record<string, string>>;
  readonly phase: Phase;
  /** Of the state it is in, as they were when it was entered; null until then. */
  readonly rules: Rules | null;
  /** Since it entered the state: turns taken, reminders sent, tries repeated, money spent, whether it must say its tag. */
  readonly tries: number;
  readonly reminders: number;
  readonly retries: number;
  readonly stateMicros: number;
  readonly mustSay: boolean;
  /** In all its life: turns taken, workers forked, money spent, how often it entered each state. */
  readonly turns: number;
  readonly forks: number;
  readonly costMicros: number;
  readonly visits: Readonly<Record<string, number>>;
}

type AgentOrigin = Pick<Agent, 'id' | 'parent' | 'state' | 'cwd' | 'input' | 'model' | 'effort' | 'variables'>;

/** An agent about to enter its first state. */
export function newAgent({ since, ...origin }: AgentOrigin & { since: number }): Agent {
  return {
    ...origin,
    session: null,
    stack: [],
    phase: { kind: 'ready', prompt: { kind: 'state' }, since },
    ...PER_STATE_DEFAULTS,
    turns: 0,
    forks: 0,
    costMicros: 0,
    visits: {},
  };
}

/** What an agent forgets when it moves on. */
export const PER_STATE_DEFAULTS = {
  rules: null,
  tries: 0,
  reminders: 0,
  retries: 0,
  stateMicros: 0,
  mustSay: false,
} as const;

/** How often an agent has entered the state it is in. */
export function visitCount({ visits, state }: Agent): number {
  return Object.hasOwn(visits, state) ? (visits[state] ?? 0) : 0;
}
