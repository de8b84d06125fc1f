import { OPTIONS, type Options } from '../core/options/options.ts';
import type { Event, Transitioned } from '../core/run/event.ts';
import { type Ledger, microsToUsd } from '../core/run/ledger.ts';
import type { Quota } from '../core/run/quota.ts';
import { type ModelShare, sumTokens, type Tokens } from '../core/run/tokens.ts';
import type { Question, UploadRules } from '../language/ask.ts';
import type { PermissionRequest } from '../language/permission.ts';
import { formatAgentLabel } from '../render/agent-labels.ts';
import { applyFormatter, formatIso } from '../render/format.ts';
import type {
  EventDocument,
  EventFields,
  ModelDocument,
  OptionsDocument,
  QuestionFields,
  QuotaDocument,
  SpendingFields,
  TokensDocument,
  TransitionFields,
} from './types.ts';

/** The version of the lines of `--events` and `--log-file`; it grows when a field is removed or changes its meaning. */
const EVENTS_VERSION = 1;

/** An event as a line of `--events` and `--log-file`, in the dialect of `--json`; docs/json.md lists every field. */
export const createEventDocument = <Happened extends Event>(
  event: Happened,
): Extract<EventDocument, { kind: Happened['kind'] }> =>
  ({ kind: event.kind, at: formatIso(event.at), ...applyFormatter<object>(FIELDS, event) }) as Extract<
    EventDocument,
    { kind: Happened['kind'] }
  >;

/** The fields that the run document, the status document and the events have in common for a transition. */
export const createTransitionFields = ({
  agent,
  state,
  tag,
  to,
  choice,
  costMicros,
  tokens,
}: Transitioned): TransitionFields => ({
  agent,
  from: state,
  tag,
  to,
  decided_by: choice.by,
  decider: choice.name,
  why: choice.why,
  cost_usd: microsToUsd(costMicros),
  tokens: createTokensDocument(tokens),
});

/** The amount spent, with its estimated and canned parts, and the tokens. */
export const createSpendingFields = (ledger: Omit<Ledger, 'turns' | 'states'>): SpendingFields => ({
  cost_usd: microsToUsd(ledger.spentMicros),
  estimated_usd: microsToUsd(ledger.estimatedMicros),
  canned_usd: microsToUsd(ledger.cannedMicros),
  tokens: createTokensDocument(ledger.tokens),
});

/** Tokens under the names of Claude Code. */
export const createTokensDocument = ({ input, output, cacheRead, cacheWrite }: Tokens): TokensDocument => ({
  input,
  output,
  cache_read: cacheRead,
  cache_creation: cacheWrite,
});

/** The use of one model. */
export const createModelDocument = ({ model, tokens, micros }: ModelShare): ModelDocument => ({
  model,
  cost_usd: microsToUsd(micros),
  tokens: createTokensDocument(tokens),
});

/** The document of what is known of a subscription's windows; null if nothing is. */
export const createQuotaDocument = (quota: Quota | null): QuotaDocument | null =>
  quota === null
    ? null
    : {
        account: quota.account,
        windows: Object.entries(quota.windows).map(([type, { percent, status, resetsAtMs, reportedAt }]) => {
          return { type, percent, status, resets_at: formatIso(resetsAtMs), reported_at: formatIso(reportedAt) };
        }),
      };

const createUploadsDocument = (rules: UploadRules): QuestionFields['uploads'] => {
  const { slots, bucket, maxCount, maxSize, maxTotalSize, mime } = rules;
  return { slots, bucket, max_count: maxCount, max_size: maxSize, max_total_size: maxTotalSize, mime };
};

const createPermissionDocument = (request: PermissionRequest): QuestionFields['permission'] => {
  const { tool, input, reason, rules, folders, form } = request;
  return { tool, input, reason, rules, folders, form };
};

/** A question as documents have it. */
export const createQuestionFields = (question: Question, untilMs: number | null): QuestionFields => ({
  question: question.text,
  next: question.next,
  timeout_at: untilMs === null ? null : formatIso(untilMs),
  timeout_next: question.timeoutNext,
  display_files: question.displayFiles,
  uploads: question.uploads && createUploadsDocument(question.uploads),
  choices: question.choices,
  permission: question.permission && createPermissionDocument(question.permission),
});

const FIELDS: { readonly [Kind in Event['kind']]: (event: Extract<Event, { kind: Kind }>) => EventFields<Kind> } = {
  run_started: ({ run, name, workflow, options }) => ({
    events_version: EVENTS_VERSION,
    run_id: run,
    name,
    workflow: workflow.name,
    workflow_path: workflow.path,
    platform: workflow.platform,
    options: createOptionsDocument(options),
  }),
  run_resumed: ({ options }) => ({ events_version: EVENTS_VERSION, options: createOptionsDocument(options) }),
  run_stopping: ({ stop, refused }) =>
    stop.kind === 'workspace'
      ? { why: stop.kind, until: null, message: stop.message, refused: null }
      : stop.kind === 'usage_limit'
        ? { why: stop.kind, until: formatIso(stop.untilMs), message: stop.message, refused: null }
        : { why: stop.kind, until: null, message: null, refused: refused ?? null },
  run_ended: ({ status, ...spending }) => ({ status, ...createSpendingFields(spending) }),
  run_waiting: ({ waitsFor }) => ({ waits_for: waitsFor }),
  agent_started: ({ agent, state, parent, cwd, input, variables }) => ({
    agent,
    label: formatAgentLabel({ id: agent, variables }),
    state,
    parent,
    cwd,
    input,
    variables,
  }),
  turn_started: ({ agent, state, evaluator, turn, prompt, session }) => ({
    agent,
    state,
    evaluator,
    turn,
    prompt,
    session_id: session?.id ?? null,
    session_use: session?.kind ?? null,
    forked_from: session?.kind === 'fork' ? session.from : null,
  }),
  turn_ended: ({ agent, state, evaluator, turn, session, ...figures }) => ({
    agent,
    state,
    evaluator,
    turn,
    session_id: session,
    cost_usd: microsToUsd(figures.costMicros),
    estimated: figures.estimated,
    canned: figures.canned,
    tokens: createTokensDocument(sumTokens(figures.models)),
    models: figures.models.map(createModelDocument),
    spent_usd: microsToUsd(figures.spentMicros),
    duration_ms: figures.durationMs,
    failure: figures.failure,
    denials: figures.denials,
  }),
  cost_corrected: ({ agent, state, evaluator, turn, ...figures }) => ({
    agent,
    state,
    evaluator,
    turn,
    former_usd: microsToUsd(figures.formerMicros),
    former_canned: figures.formerCanned,
    cost_usd: microsToUsd(figures.costMicros),
    estimated: figures.estimated,
    canned: figures.canned,
    tokens: createTokensDocument(sumTokens(figures.models)),
    models: figures.models.map(createModelDocument),
    spent_usd: microsToUsd(figures.spentMicros),
  }),
  printed: ({ agent, state, turn, text }) => ({ agent, state, turn, text }),
  transition: (event) => ({
    ...createTransitionFields(event),
    tags: event.tags,
    requested: event.requested,
    implicit: event.implicit,
    guard: event.guard ?? null,
    session_id: event.session,
    session_use: event.sessionUse,
    cwd: event.cwd,
    depth: event.depth,
    input: event.input,
  }),
  evaluated: ({ agent, state, evaluator, verdict, transition, why }) => ({
    agent,
    state,
    evaluator,
    verdict,
    transition,
    why,
  }),
  reminded: ({ agent, state, evaluator, problem, message, count, limit }) => ({
    agent,
    state,
    evaluator,
    problem,
    message,
    count,
    limit,
  }),
  sleeping: ({ agent, state, why, untilMs, failure, message, count }) => ({
    agent,
    state,
    why,
    until: formatIso(untilMs),
    failure,
    message,
    count,
  }),
  woken: ({ agent, state }) => ({ agent, state }),
  session_lost: ({ agent, state, session, next, message }) => ({ agent, state, session_id: session, next, message }),
  asked: ({ agent, state, ask, question, untilMs, taskFolder }) => ({
    agent,
    state,
    ask_id: ask,
    ...createQuestionFields(question, untilMs),
    task_folder: taskFolder,
  }),
  ask_answered: ({ agent, state, ask, text, by, answeredAt, files, permission }) => ({
    agent,
    state,
    ask_id: ask,
    answer: text,
    by,
    answered_at: formatIso(answeredAt),
    files,
    permission: permission && { decision: permission.decision.kind, turn: permission.turn },
  }),
  ask_timed_out: ({ agent, state, ask, permission }) => ({
    agent,
    state,
    ask_id: ask,
    permission: permission && { decision: permission.decision.kind, turn: permission.turn },
  }),
  ask_closed: ({ agent, state, ask, outcome }) => ({ agent, state, ask_id: ask, outcome }),
  said: ({ agent, state, said, text, by, saidAt, turn, refused }) => ({
    agent,
    state,
    said_id: said,
    text,
    by,
    said_at: formatIso(saidAt),
    turn,
    refused,
  }),
  turn_interrupted: ({ agent, state, interrupt, text, by, saidAt, turn, refused }) => ({
    agent,
    state,
    interrupt_id: interrupt,
    text,
    by,
    said_at: formatIso(saidAt),
    turn,
    refused,
  }),
  said_delivered: ({ agent, state, said, turn, via }) => ({ agent, state, said_id: said, turn, via }),
  answer_withheld: ({ agent, state, requested, implicit, session, sessionUse, cwd, costMicros }) => ({
    agent,
    state,
    requested,
    implicit,
    session_id: session,
    session_use: sessionUse,
    cwd,
    cost_usd: microsToUsd(costMicros),
  }),
  visit_limit: ({ agent, state, maxVisits }) => ({ agent, state, max_visits: maxVisits }),
  agent_paused: ({ agent, state, why, message }) => ({ agent, state, why, message }),
  agent_failed: ({ agent, state, message }) => ({ agent, state, message }),
  agent_ended: ({ agent, state, result }) => ({ agent, state, result }),
  agent_resumed: ({ agent, state }) => ({ agent, state }),
  worktree_opening: ({ agent, state }) => ({ agent, state }),
  worktree_opened: ({ agent, state, path, branch, base, repository, cwd, remote = null, home = null }) => {
    return { agent, state, path, branch, base, repository, cwd, remote, home };
  },
  worktree_leaving: ({ agent, state }) => ({ agent, state }),
  worktree_left: ({ kind: _kind, at: _at, remote = null, pushed = null, ...left }) => ({ ...left, remote, pushed }),
  worktree_discarded: ({ agent, state, path, branch }) => ({ agent, state, path, branch }),
  workspace_opening: ({ git, ref }) => ({ git, ref }),
  workspace_opened: ({ kind: _kind, at: _at, ...place }) => place,
  workspace_leaving: ({ path, branch }) => ({ path, branch }),
  workspace_left: ({ kind: _kind, at: _at, ...left }) => left,
  rehomed: ({ agent, state, from, to }) => ({ agent, state, from, to }),
  joining: ({ agent, state, workers, done, wanted, group, untilMs }) => ({
    agent,
    state,
    workers,
    done,
    wanted,
    group,
    until: untilMs === null ? null : formatIso(untilMs),
  }),
  joined: ({ agent, state, to, timedOut, workers, left }) => ({ agent, state, to, timed_out: timedOut, workers, left }),
  cancelling: ({ agent, state, by }) => ({ agent, state, by }),
  agent_cancelled: ({ agent, state, by }) => ({ agent, state, by }),
  quota: ({ quota, parallel }) => ({ quota: createQuotaDocument(quota), parallel }),
  warning: ({ agent, state, message }) => ({ agent, state, message }),
};

/** The options of a run by their names and in their units of the config file; null for no limit, or nothing chosen. */
function createOptionsDocument(options: Options): OptionsDocument {
  const values = OPTIONS.filter(({ type }) => type.kind !== 'variables').map(({ name, key, type }) => {
    return [key, options[name] === null ? null : type.format(options[name])];
  });
  return { ...Object.fromEntries(values), vars: options.variables };
}
