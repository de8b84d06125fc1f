import type { Session } from '../language/position.ts';
import { isDraining } from './answers/end-agent.ts';
import { recordEnd } from './joins/join.ts';
import type { Options } from './options/options.ts';
import type { Agent, Phase, TurnPrompt } from './run/agent.ts';
import { isDone } from './run/agent.ts';
import type { Event } from './run/event.ts';
import { EMPTY_LEDGER } from './run/ledger.ts';
import type { RerunOrigin } from './run/rerun-origin.ts';
import { getAgent, type Run, withAgent, withAgents } from './run/run.ts';
import type { Said } from './run/said.ts';
import { deriveRunStatus } from './run/status.ts';
import { NO_TOKENS } from './run/tokens.ts';
import { placeOf, type WorktreePlace } from './run/worktree.ts';

/** A run at an earlier moment. */
export interface EarlierRun {
  readonly run: Run;
  /** When that was. */
  readonly at: number;
  /** The agents with a turn on record, as they were before it. */
  readonly beforeTurns: ReadonlyMap<string, Agent>;
}

/** How a rerun differs from the run that it comes from. */
export interface RerunPlan extends Pick<Run, 'id' | 'name' | 'startedAt' | 'attended' | 'workflow' | 'code' | 'joins'> {
  readonly origin: RerunOrigin;
  readonly options: Options;
  readonly workFolders: Run['workFolders'];
  /** Its own clone, if the original worked in one. */
  readonly workspace: Run['workspace'];
  /** The agent that it begins with. */
  readonly agent: string;
  /** True to keep only this agent and those below it. */
  readonly only: boolean;
  /** The value of `{{result}}` in its first state; undefined for the one of then. */
  readonly input?: string | undefined;
  /** A message to this agent, for its first prompt. */
  readonly message?: Said | undefined;
  /** The copy of a conversation; null if there is none. */
  readonly copyOf: (session: string) => string | null;
  /** The folder that stands for one of then. */
  readonly moved: (folder: string) => string;
  /** The worktrees in which agents work, by agent. */
  readonly worktrees: ReadonlyMap<string, WorktreePlace>;
}

/**
 * The agents as of just before a moment: a turn that was under way counts as not begun, and what was said into it stands before its prompt.
 * One that was being ended, or was leaving its worktree, has ended.
 */
export function rewindTurns({ run, at, beforeTurns }: EarlierRun): Run {
  let next = run;
  for (const { id } of run.agents) {
    const agent = getAgent(next, id);
    const { phase } = agent;
    if (phase.kind === 'running') next = rewindTurn(next, agent, beforeTurns.get(id));
    const done =
      phase.kind === 'cancelling'
        ? ({ kind: 'cancelled', by: phase.by } as const)
        : phase.kind === 'worktree'
          ? phase.outcome
          : null;
    if (done === null) continue;
    const place = placeOf(agent.worktree);
    const worktree =
      place === null ? null : ({ kind: 'closed', ...place, kept: true, commits: 0, dirty: false } as const);
    next = recordEnd(withAgent(next, { ...agent, worktree, phase: done }), id, at).run;
  }
  return next;
}

function rewindTurn(run: Run, agent: Agent, before: Agent | undefined): Run {
  if (before === undefined) throw new Error(`the journal does not tell how ${agent.id} was before its turn`);
  const entered = before.rules === null && agent.rules !== null ? 1 : 0;
  // All that it was to hear it has not heard.
  const known = new Map([...before.messages, ...agent.messages].map((each) => [each.id, each]));
  const messages = [...known.values()].map((each) => ({ ...each, turn: null, delivered: false }));
  return withAgent({ ...run, iterations: run.iterations - entered }, { ...before, messages });
}

/** The run that begins at a moment of another one. */
export function beginAgain(earlier: EarlierRun, plan: RerunPlan): Run {
  const rewound = rewindTurns(earlier);
  const { id, name, startedAt, attended, workflow, code, joins, options, workFolders, origin } = plan;
  const kept = plan.only ? withBelow(rewound, plan.agent) : null;
  const shiftMs = startedAt - earlier.at;
  const agents = rewound.agents.map((agent) =>
    kept !== null && !kept.has(agent.id) ? leftOut(agent) : renewAgent(agent, rewound.seq, shiftMs, plan),
  );
  const run: Run = {
    ...rewound,
    id,
    name,
    startedAt,
    attended,
    workflow,
    code,
    joins: joins || rewound.joins,
    options,
    workFolders,
    startFolder: rewound.startFolder === null ? null : plan.moved(rewound.startFolder),
    workspace: plan.workspace,
    ledger: EMPTY_LEDGER,
    hold: null,
    quota: null,
    stop: null,
    agents: [],
    rerunOf: origin,
  };
  const begun = withChanges({ ...run, agents }, plan);
  return { ...begun, status: deriveRunStatus(begun) };
}

/** An agent and all below it. Parents stand before their workers. */
function withBelow({ agents }: Run, id: string): ReadonlySet<string> {
  const kept = new Set([id]);
  for (const agent of agents) if (agent.parent !== null && kept.has(agent.parent)) kept.add(agent.id);
  return kept;
}

/** An agent that a rerun does without: it counts as cancelled, and nobody waits for it. */
const leftOut = (agent: Agent): Agent => ({
  ...agent,
  session: null,
  stack: [],
  worktree: null,
  evaluation: null,
  messages: [],
  interruption: null,
  joinedBy: agent.joinedBy ?? 0,
  phase: { kind: 'cancelled', by: 'rerun' },
  costMicros: 0,
  stateMicros: 0,
  stateTokens: NO_TOKENS,
});

function renewAgent(agent: Agent, seq: number, shiftMs: number, plan: RerunPlan): Agent {
  const place = plan.worktrees.get(agent.id);
  const { evaluation } = agent;
  const session = renewSession(agent.session, plan);
  const judge = evaluation === null ? null : renewSession(evaluation.session, plan);
  const isForgotten = evaluation === null ? isLost(agent.session, session) : isLost(evaluation.session, judge);
  return {
    ...agent,
    session,
    evaluation: evaluation === null ? null : { ...evaluation, session: judge },
    cwd: plan.moved(agent.cwd),
    stack: agent.stack.map((frame) => ({
      ...frame,
      session: renewSession(frame.session, plan),
      cwd: plan.moved(frame.cwd),
    })),
    worktree: place === undefined ? agent.worktree : { kind: 'made', ...place },
    node: null,
    interruption: null,
    costMicros: 0,
    stateMicros: 0,
    stateTokens: NO_TOKENS,
    phase: renewPhase(agent.phase, seq, shiftMs, isForgotten),
  };
}

const isLost = (before: Session | null, after: Session | null): boolean => before !== null && after === null;

/** Without its conversation, an agent needs the whole prompt of its state again. */
function renewPhase(phase: Phase, since: number, shiftMs: number, isForgotten: boolean): Phase {
  const again = (prompt: TurnPrompt): TurnPrompt => (isForgotten ? { kind: 'state' } : prompt);
  switch (phase.kind) {
    case 'ready':
      return { ...phase, prompt: again(phase.prompt) };
    case 'sleeping':
      return { kind: 'ready', prompt: again(phase.prompt), since };
    case 'paused':
      return { ...phase, prompt: again(phase.prompt) };
    case 'asking':
      return {
        ...phase,
        askedAt: phase.askedAt + shiftMs,
        untilMs: phase.untilMs === null ? null : phase.untilMs + shiftMs,
      };
    case 'joining':
      return { ...phase, untilMs: phase.untilMs === null ? null : phase.untilMs + shiftMs };
    default:
      return phase;
  }
}

function renewSession(session: Session | null, { copyOf }: RerunPlan): Session | null {
  if (session === null) return null;
  const copy = copyOf(session.kind === 'open' ? session.id : session.of);
  if (copy === null) return null;
  return session.kind === 'open' ? { ...session, id: copy } : { ...session, of: copy };
}

/** Hands the first agent what it is to begin with instead. */
function withChanges(run: Run, { agent: id, input, message }: RerunPlan): Run {
  const agent = getAgent(run, id);
  return withAgents(run, [
    {
      ...agent,
      input: input === undefined ? agent.input : input,
      messages: message === undefined ? agent.messages : [...agent.messages, message],
    },
  ]);
}

/** The conversations that the agents of a run at an earlier moment continue from, with the folder of each. */
export function sessionsOf(run: Run, only: string | null): ReadonlyMap<string, string> {
  const kept = only === null ? null : withBelow(run, only);
  const sessions = new Map<string, string>();
  const add = (session: Session | null, cwd: string): void => {
    if (session !== null) sessions.set(session.kind === 'open' ? session.id : session.of, cwd);
  };
  for (const agent of run.agents) {
    if (isDone(agent) || (kept !== null && !kept.has(agent.id))) continue;
    for (const frame of agent.stack) add(frame.session, frame.cwd);
    add(agent.evaluation?.session ?? null, agent.cwd);
    add(agent.session, agent.cwd);
  }
  return sessions;
}

/** The agents of a run at an earlier moment that can still continue, without those that `only` leaves out. */
export function liveAgents(run: Run, only: string | null): readonly Agent[] {
  const kept = only === null ? null : withBelow(run, only);
  return run.agents.filter((agent) => !isDone(agent) && !isDraining(agent) && (kept?.has(agent.id) ?? true));
}

/** The events of agents that a rerun begins with, for observers: those that wait for a person ask again. */
export const questionsAgain = (run: Run): readonly Event[] =>
  run.agents.flatMap(({ id, state, phase }) =>
    phase.kind === 'asking'
      ? [
          {
            kind: 'asked',
            at: run.startedAt,
            agent: id,
            state,
            ask: phase.ask,
            question: phase.question,
            untilMs: phase.untilMs,
            taskFolder: null,
          } as const,
        ]
      : [],
  );
