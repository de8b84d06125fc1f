import { z } from 'zod';
import type { Command } from '../../core/command.ts';
import type { CostReport } from '../../core/run/ledger.ts';
import type { Signal } from '../../core/signals/signal.ts';
import { type FailureKind, REACTIONS } from '../../language/failure.ts';
import { QUOTA_SCHEMA } from '../quota-schema.ts';

/*
 * Signals and events come from nodes that may have another version of Raymond. Each is checked for the fields that the run depends on;
 * fields that this version does not know pass.
 */

const tokens = z.looseObject({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
});

/** The cost of a turn that another node took. */
export const COST_SCHEMA: z.ZodType<CostReport> = z.looseObject({
  kind: z.enum(['reported', 'estimated', 'unknown']),
  micros: z.number(),
  refusedUsd: z.number().exactOptional(),
  models: z.array(z.looseObject({ model: z.string(), tokens, weight: z.number() })).exactOptional(),
  canned: z.boolean().exactOptional(),
});

const at = z.number();
const ofAgent = { at, agent: z.string() };
const aboutAgent = { at, about: z.looseObject({ agent: z.string() }) };
const cost = COST_SCHEMA.nullable();
const strings = z.array(z.string());
const message = z.string();

const FIELDS: Readonly<Record<Signal['kind'], Readonly<Record<string, z.ZodType>>>> = {
  began: { ...ofAgent, sessionId: z.string(), rules: z.looseObject({}).nullable(), warnings: strings },
  unreadable: { ...ofAgent, message },
  unrecorded: {
    ...ofAgent,
    message,
    turns: z.array(z.looseObject({ number: z.int(), state: z.string(), cost })),
    enter: z.boolean(),
  },
  answered: {
    ...ofAgent,
    text: z.string(),
    cost,
    denials: strings,
    scope: z.looseObject({ files: strings }),
    folders: z.looseObject({}),
  },
  failed: {
    ...ofAgent,
    failure: z.looseObject({ kind: z.enum(Object.keys(REACTIONS) as FailureKind[]), message }),
    cost,
    progress: z.enum(['none', 'prompt', 'answer']),
    jitter: z.number(),
  },
  woke: ofAgent,
  worktree_made: {
    ...ofAgent,
    place: z.looseObject({ path: z.string(), branch: z.string(), base: z.string(), repository: z.string() }),
    cwd: z.string(),
  },
  worktree_refused: { ...ofAgent, message },
  worktree_closed: {
    ...ofAgent,
    content: z.looseObject({ kept: z.boolean(), commits: z.number(), dirty: z.boolean() }),
  },
  home_lost: { ...ofAgent, home: z.string(), to: z.string().nullable(), mayHaveRun: z.boolean(), jitter: z.number() },
  workspace_made: { at, place: z.looseObject({ path: z.string() }) },
  workspace_refused: { at, message },
  workspace_left: { at, content: z.looseObject({}) },
  ask_answered: { ...ofAgent, ask: z.string(), text: z.string(), by: z.string(), answeredAt: z.number() },
  ask_timed_out: { ...ofAgent, ask: z.string() },
  said: { ...aboutAgent, said: z.string(), text: z.string(), by: z.string(), saidAt: z.number() },
  interrupt: { ...aboutAgent, interrupt: z.string(), text: z.string().nullable(), by: z.string(), saidAt: z.number() },
  heard: { ...aboutAgent, said: z.string() },
  permission_asked: {
    ...aboutAgent,
    turn: z.int(),
    number: z.int(),
    request: z.looseObject({ tool: z.string(), digest: z.string(), form: z.enum(['tool', 'question', 'plan']) }),
    text: z.string(),
    timeoutMs: z.number().nullable(),
  },
  permission_answered: { ...aboutAgent, ask: z.string(), answer: z.looseObject({ text: z.string() }).nullable() },
  permission_closed: { ...aboutAgent, ask: z.string(), outcome: z.enum(['delivered', 'cancelled']) },
  cost_found: { ...aboutAgent, turn: z.int(), cost: COST_SCHEMA },
  noticed: { at, about: z.looseObject({ agent: z.string(), state: z.string() }), message },
  quota_reported: { at, quota: QUOTA_SCHEMA },
  stopped: { at, by: z.enum(['interrupted', 'stopped']) },
  worktrees_discarded: { at, worktrees: z.array(z.looseObject({ agent: z.string() })) },
  resumed: { at, options: z.looseObject({}), retry: z.boolean() },
};

const KINDS = Object.keys(FIELDS) as Signal['kind'][];
const [first, ...others] = KINDS.map((kind) => z.looseObject({ kind: z.literal(kind), ...FIELDS[kind] }));
if (first === undefined) throw new Error('there are no signals');

/** A signal that another node sent. */
export const SIGNAL_SCHEMA = z.discriminatedUnion('kind', [first, ...others]) as unknown as z.ZodType<Signal>;

const told = { agent: z.string(), turn: z.int().nullable() };

/** The command that an event stands for which the driver of a run passes on to the node of a turn. */
export const TOLD_COMMAND_SCHEMA: z.ZodType<Command> = z
  .discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('said'), ...told, said: z.string(), text: z.string() }),
    z.looseObject({ kind: z.literal('turn_interrupted'), ...told, interrupt: z.string() }),
  ])
  .transform((event): Command => {
    const { agent, turn } = event;
    return event.kind === 'said'
      ? { kind: 'message', id: event.said, agent, turn, text: event.text }
      : { kind: 'interrupt', id: event.interrupt, agent, turn };
  });
