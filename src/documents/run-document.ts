import type { JoinProgress } from '../core/joins/join-progress.ts';
import { type Agent, recordedTurn, turnSessionOf } from '../core/run/agent.ts';
import { archivedCount } from '../core/run/archive.ts';
import { microsToUsd } from '../core/run/ledger.ts';
import { isLive, observeAgent } from '../core/run/observed-status.ts';
import { ledgerOf, type Run } from '../core/run/run.ts';
import { NO_TOKENS } from '../core/run/tokens.ts';
import { workFoldersOf } from '../core/run/work-folders.ts';
import { EXIT } from '../errors.ts';
import type { Session } from '../language/position.ts';
import { formatAgentLabel } from '../render/agent-labels.ts';
import { formatIso } from '../render/format.ts';
import { describeNextSteps, type RunSituation } from '../render/next-steps.ts';
import { listWaitingAsks } from '../render/questions.ts';
import type { RecordedTransition, RunHistory } from '../render/run-history.ts';
import { computeWorkMs } from '../render/work-time.ts';
import {
  createModelDocument,
  createQuotaDocument,
  createSpendingFields,
  createTokensDocument,
  createTransitionFields,
} from './event-document.ts';
import { createAskDocument } from './question-document.ts';
import type {
  AgentResultDocument,
  AgentStatusDocument,
  AgentWorktreeDocument,
  RunDocument,
  RunHeadFields,
  StatusDocument,
} from './types.ts';

const EXIT_CODES = {
  running: EXIT.paused,
  completed: EXIT.completed,
  failed: EXIT.failed,
  waiting: EXIT.waiting,
  paused: EXIT.paused,
  budget_exceeded: EXIT.limit,
  iteration_limit: EXIT.limit,
  interrupted: EXIT.interrupted,
} as const satisfies Record<Run['status'], number>;

/** The exit code of the command that drove this run. */
export const exitCodeOf = (run: Run): number => EXIT_CODES[run.status];

/** The document of `--json` about a whole run, the same after a start and a resume. */
export function createRunDocument(run: Run, history: RunHistory): RunDocument {
  const ended = run.agents.flatMap(({ id, phase }) => (phase.kind === 'ended' ? [[id, phase.result] as const] : []));
  return {
    run_id: run.id,
    status: run.status,
    exit_code: exitCodeOf(run),
    results: Object.fromEntries(ended),
    started_at: formatIso(run.startedAt),
    ended_at: formatOptionalTime(history.endedAt),
    worked_ms: computeWorkMs(history.worked, history.worked.period?.lastAt ?? 0),
    ...createUsageFields(run, history),
    agents: run.agents.map((agent) => createAgentResult(agent, history)),
    archived_agents: archivedCount(run),
    workspace: createWorkspaceDocument(run),
    questions: listWaitingAsks(run).map((waiting) => createAskDocument(run, waiting)),
    transitions: history.transitions.map(createTransitionDocument),
  };
}

type UsageFields = Pick<
  RunDocument,
  'cost_usd' | 'estimated_usd' | 'canned_usd' | 'tokens' | 'models' | 'warnings' | 'warnings_left_out' | 'quota'
>;

/** The spending, use and warnings of a run. */
const createUsageFields = (run: Run, { models, warnings }: RunHistory): UsageFields => ({
  ...createSpendingFields(ledgerOf(run)),
  models: models.map(createModelDocument),
  warnings: warnings.list.map(({ kind, state, message, count, agentCount, lastAt }) => {
    return { kind, state, message, count, agent_count: agentCount, last_at: formatIso(lastAt) };
  }),
  warnings_left_out: warnings.leftOut,
  quota: createQuotaDocument(run.quota),
});

const createTransitionDocument = (transition: RecordedTransition): RunDocument['transitions'][number] => ({
  at: formatIso(transition.at),
  ...createTransitionFields(transition),
  duration_ms: transition.turnsMs,
});

const formatOptionalTime = (at: number | null): string | null => (at === null ? null : formatIso(at));

/** The turns of an agent: how many, how long they took and what they used. */
function createTurnFields({ id, turns, costMicros }: Agent, { agents }: RunHistory): TurnFields {
  const { turnsMs = 0, tokens = NO_TOKENS, startedAt = null } = agents.get(id) ?? {};
  return {
    started_at: formatOptionalTime(startedAt),
    turns,
    turns_ms: turnsMs,
    cost_usd: microsToUsd(costMicros),
    tokens: createTokensDocument(tokens),
  };
}

type TurnFields = Pick<AgentResultDocument, 'started_at' | 'turns' | 'turns_ms' | 'cost_usd' | 'tokens'>;

function createAgentResult(agent: Agent, history: RunHistory): AgentResultDocument {
  const { id, state, phase } = agent;
  const { lastAt = null } = history.agents.get(id) ?? {};
  return {
    id,
    label: formatAgentLabel(agent),
    status: observeAgent(agent),
    state,
    result: phase.kind === 'ended' ? phase.result : null,
    error: phase.kind === 'failed' || phase.kind === 'paused' ? phase.message : null,
    joined: agent.joinedBy !== null,
    worktree: createWorktreeDocument(agent),
    ended_at: isOver(phase) ? formatOptionalTime(lastAt) : null,
    ...createTurnFields(agent, history),
  };
}

/** The worktree of an agent, and what it held when the agent left it; null without one. */
function createWorktreeDocument({ worktree }: Agent): AgentWorktreeDocument | null {
  if (worktree === null || worktree.kind === 'wanted') return null;
  const { path, branch, base, remote = null } = worktree;
  const { kept, commits, dirty, pushed = null, discarded = false } = worktree.kind === 'closed' ? worktree : NOT_LEFT;
  return { path, branch, base, kept, commits, dirty, remote, pushed, discarded };
}

const NOT_LEFT = { kept: null, commits: null, dirty: null, pushed: null, discarded: false };

/** The clone of a run, and what it held when the run came to rest; null without one, and before it is made. */
function createWorkspaceDocument({ workspace }: Run): RunDocument['workspace'] {
  if (workspace === null || workspace.place === null) return null;
  const { path, branch, base, remote } = workspace.place;
  const { kept, commits, dirty, pushed, discarded = false } = workspace.kind === 'left' ? workspace.content : NOT_LEFT;
  return { path, branch, base, remote, kept, commits, dirty, pushed, discarded };
}

const isOver = ({ kind }: Agent['phase']): boolean => kind === 'ended' || kind === 'failed' || kind === 'cancelled';

/** The fields that the status document and the list of runs have in common. */
export const createRunFields = (
  run: Pick<Run, 'id' | 'name' | 'workflow' | 'startedAt'> & Pick<RunSituation, 'observedStatus' | 'owner'>,
): RunHeadFields => ({
  run_id: run.id,
  name: run.name,
  workflow: run.workflow.name,
  workflow_path: run.workflow.path,
  status: run.observedStatus,
  owner: run.owner,
  started_at: formatIso(run.startedAt),
});

/** The document of `raymond status --json`. */
export function createStatusDocument(
  situation: RunSituation & { readonly damage: readonly string[]; readonly openConversations: number | null },
  history: RunHistory,
  now: number,
): StatusDocument {
  const { run, observedStatus, owner, damage, openConversations } = situation;
  const { waitsFor, commands } = describeNextSteps(situation, now);
  const { budgetMicros, maxIterations } = run.options;
  return {
    ...createRunFields({ ...run, observedStatus, owner }),
    damage,
    worked_ms: computeWorkMs(history.worked, findWorkEndMs(situation, history, now)),
    ...createUsageFields(run, history),
    budget_usd: budgetMicros === null ? null : microsToUsd(budgetMicros),
    iterations: run.iterations,
    max_iterations: maxIterations,
    run_folder: run.workFolders?.run ?? null,
    workspace: createWorkspaceDocument(run),
    agents: run.agents.map((agent) => createAgentStatus(situation, agent, history)),
    archived_agents: archivedCount(run),
    open_conversations: openConversations,
    questions: listWaitingAsks(run).map((waiting) => createAskDocument(run, waiting)),
    transitions: history.transitions.map(createTransitionDocument),
    waits_for: waitsFor.join(' '),
    next: commands[0]?.command ?? null,
  };
}

/** The time until which a run was at work: now if a process drives it, else its last event. */
export const findWorkEndMs = ({ observedStatus }: RunSituation, { worked }: RunHistory, now: number): number =>
  isLive(observedStatus) ? now : (worked.period?.lastAt ?? now);

/** The Claude Code session that an agent is in; null if it has none yet. */
export function getSessionId(agent: Agent): string | null {
  return recordedTurn(agent.phase)?.session?.id ?? getOpenSessionId(turnSessionOf(agent));
}

/** The id of a session; null before the first turn of a fork, which has none yet. */
const getOpenSessionId = (session: Session | null): string | null => (session?.kind === 'open' ? session.id : null);

const toJoinDocument = ({ workers, done, wanted, group }: JoinProgress): AgentStatusDocument['waits_for_workers'] => ({
  workers,
  done,
  wanted,
  group,
});

function createAgentStatus({ run, queued }: RunSituation, agent: Agent, history: RunHistory): AgentStatusDocument {
  const { id, parent, state, evaluation, phase, stack } = agent;
  const { lastAt = null } = history.agents.get(id) ?? {};
  const since = recordedTurn(phase)?.startedAt ?? lastAt;
  return {
    id,
    label: formatAgentLabel(agent),
    parent,
    status: observeAgent(agent, queued),
    state,
    evaluator: evaluation?.file ?? null,
    since: formatOptionalTime(since),
    until: 'untilMs' in phase ? formatOptionalTime(phase.untilMs) : null,
    joined: agent.joinedBy !== null,
    worktree: createWorktreeDocument(agent),
    home: agent.node,
    waits_for_workers: phase.kind === 'joining' ? toJoinDocument(phase) : null,
    result: phase.kind === 'ended' ? phase.result : null,
    error: phase.kind === 'failed' || phase.kind === 'paused' ? phase.message : null,
    said_waiting: agent.messages.filter(({ delivered }) => !delivered).length,
    session_id: getSessionId(agent),
    task_folder: workFoldersOf(run, agent).taskFolder,
    stack: stack.map((frame) => ({ state: frame.state, session_id: getOpenSessionId(frame.session) })),
    ...createTurnFields(agent, history),
  };
}
