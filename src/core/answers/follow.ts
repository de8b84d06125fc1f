import { type ForkOrigin, safeNamesWarnings } from '../../language/environment-names.ts';
import type { Streak } from '../../language/guards.ts';
import { fileInWorkflow } from '../../language/named-workflows.ts';
import { pinEntered } from '../../language/pinned-code.ts';
import { inputText, type Position } from '../../language/position.ts';
import { type AnswerProblem, answerProblem, appendOutput, CURES } from '../../language/problem.ts';
import { formatReminder } from '../../language/reminder.ts';
import { isPrompt, isStateFile, type Scope } from '../../language/state-names.ts';
import { type TransitionChoice, toFollowedTag } from '../../language/tags/followed-tag.ts';
import type { ResolvedTag } from '../../language/tags/permitted-tags.ts';
import { TRANSITIONS } from '../../language/transitions/index.ts';
import type { JoinTerms, Worker } from '../../language/transitions/transition.ts';
import { startJoin } from '../joins/join.ts';
import { type Agent, newAgent, PER_STATE_DEFAULTS, turnFileOf, turnSubjectOf } from '../run/agent.ts';
import { addAgents, indexOfAgent } from '../run/agent-index.ts';
import type { Event, Step } from '../run/event.ts';
import { nextWorkerId } from '../run/ids.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { newTaskName, taskNameOf } from '../run/work-folders.ts';
import type { Decision } from './answer.ts';
import { askPerson } from './ask-person.ts';
import { endAgent, failAgent, leftStateOf } from './end-agent.ts';
import type { TurnAnswer } from './looked-up.ts';
import { countStreak, failState, type StateFailure, takeGuard } from './state-failure.ts';

/** The interpretation of a valid answer. */
export type GoDecision = Extract<Decision, { kind: 'go' }>;

/** The transition that was asked for, and who made the choice. */
export interface TransitionOrigin {
  readonly requested: readonly ResolvedTag[];
  readonly choice: TransitionChoice;
}

/** Makes a transition, and warns about what is odd in it. */
export function makeTransition(
  run: Run,
  agent: Agent,
  decision: GoDecision,
  origin: TransitionOrigin,
  { scope, at, fingerprint }: Pick<TurnAnswer, 'scope' | 'at' | 'fingerprint'>,
): Step {
  const eventBase = { at, agent: agent.id, state: agent.state };
  const messages = [...decision.warnings, ...warnOfSafeNames(agent, decision.tags, scope)];
  const warnings = messages.map((message): Event => ({ kind: 'warning', ...eventBase, message }));
  const streak = countStreak(agent, fingerprint ?? null);
  const moved =
    streak !== undefined && streak.visits >= (agent.rules?.guards?.stuck?.after ?? 0)
      ? leaveStuckState(run, agent, streak.visits, origin, at)
      : applyTags(enterWorkflows(run, decision.tags), withStreak(agent, streak), decision, origin, at);
  return { ...moved, events: [...warnings, ...moved.events] };
}

/** Notes the workflows that these tags enter, so that a resume finds them again, with their code, and whether agents join workers there. */
function enterWorkflows(run: Run, tags: readonly ResolvedTag[]): Run {
  const joins = run.joins || tags.some(({ target }) => target.workflow?.joins === true);
  const entered = tags.flatMap(({ target: { workflow } }) => {
    if (workflow === null || workflow.name === null || Object.hasOwn(run.workflows, workflow.name)) return [];
    return [[workflow.name, { path: workflow.path, variables: workflow.variables }] as const];
  });
  const code = pinEntered(
    run.code,
    tags.map(({ target }) => target.workflow),
  );
  if (entered.length === 0 && joins === run.joins && code === run.code) return run;
  return { ...run, joins, code, workflows: { ...run.workflows, ...Object.fromEntries(entered) } };
}

/** Warns, at once for a whole answer, of variables that the scripts of a workflow do not get under their own names. */
function warnOfSafeNames({ state }: Agent, tags: readonly ResolvedTag[], scope: Scope): readonly string[] {
  const variables = tags.flatMap(({ target }) => Object.entries(target.variables));
  if (variables.length === 0 || !scope.files.some((file) => isStateFile(file) && !isPrompt(file))) return [];
  return safeNamesWarnings(variables, originOf(state), scope.platform);
}

const originOf = (state: string): ForkOrigin => (isPrompt(state) ? 'prompt' : 'script');

/** The answer is not followed: it has been followed often enough. The count starts anew. */
function leaveStuckState(run: Run, agent: Agent, visits: number, { requested }: TransitionOrigin, at: number): Step {
  const { [agent.state]: _, ...streaks } = agent.streaks;
  const message = `${agent.state}: no progress in ${visits} visits in a row: each ended with the same answer, and nothing has changed`;
  const freed = { ...agent, streaks };
  const caught = { outcome: 'stuck', message, requested: requested.map(toFollowedTag) } as const;
  return takeGuard(run, freed, caught, at) ?? failAgent(run, freed, message, at);
}

const withStreak = (agent: Agent, streak: Streak | undefined): Agent =>
  streak === undefined ? agent : { ...agent, streaks: { ...agent.streaks, [agent.state]: streak } };

/** The problem of an answer that leaves open whether the work was done, because tools were denied. */
export const toolsDeniedProblem = (tools: readonly string[]): AnswerProblem =>
  answerProblem('tools_denied', `the use of ${[...new Set(tools)].join(', ')} was not permitted`);

/** The problems of an agent that could not do its work: what was denied says more about them than the answer. */
const DENIAL_CONSEQUENCES: ReadonlySet<AnswerProblem['kind']> = new Set(['no_tag', 'tools_denied']);

/** Reminds a prompt as often as the run allows, without a policy at most once; a script is not asked again. */
export function remindOrFail(run: Run, agent: Agent, rejection: AnswerProblem, answer: TurnAnswer): Step {
  if (!isPrompt(turnFileOf(agent)) || rejection.kind === 'unchecked_result')
    return rejectOutput(run, agent, rejection, answer);
  const { scope, at } = answer;
  const policy = agent.rules?.policy ?? [];
  const isVerdict = agent.evaluation !== null;
  const limit = policy.length === 0 && !isVerdict ? Math.min(1, run.options.reminders) : run.options.reminders;
  const count = agent.reminders + 1;
  if (count > limit) {
    const tries = limit === 1 ? '1 reminder' : `${limit} reminders`;
    const isDenied = agent.denied.length > 0 && DENIAL_CONSEQUENCES.has(rejection.kind);
    const message = `no valid answer after ${tries}${isDenied ? '' : `: ${rejection.message}`}`;
    return failAnswer(run, agent, { message, ...(isDenied && { outcome: 'denied' }) }, at);
  }
  const prompt = { kind: 'reminder', text: formatReminder(rejection, policy, scope, isVerdict) } as const;
  const reminded: Agent = {
    ...agent,
    reminders: count,
    tagRequired: agent.tagRequired || rejection.kind === 'tools_denied',
    phase: { kind: 'ready', prompt, since: run.seq },
  };
  const { kind, message } = rejection;
  const evaluator = agent.evaluation?.file ?? null;
  const eventBase = { at, agent: agent.id, state: agent.state, evaluator };
  return {
    run: withAgent(run, reminded),
    events: [{ kind: 'reminded', ...eventBase, problem: kind, message, count, limit }],
  };
}

/** An answer comes when it is ready: there is no crowd that retries would have to be spread for. */
const NO_JITTER = 1;

/** Fails a state that gave no valid answer. If it is tried again, it has all its reminders again. */
function failAnswer(run: Run, agent: Agent, failure: Omit<StateFailure, 'kind'>, at: number): Step {
  const plan = { at, jitter: NO_JITTER, prompt: { kind: 'state' }, limit: null } as const;
  const mayRetry = agent.retries < (agent.rules?.guards?.retry ?? 0);
  const renewed: Agent = mayRetry ? { ...agent, reminders: 0, tagRequired: false, denied: [] } : agent;
  return failState(run, renewed, { kind: 'no_answer', ...failure }, plan);
}

/**
 * Pauses the agent of a script, or of a prompt whose answer cannot be judged, if the user can make its next step possible, and
 * keeps the answer: the work is done, and is not to be done twice. With any other answer the agent fails.
 */
function rejectOutput(run: Run, agent: Agent, { kind, message: problem }: AnswerProblem, answer: TurnAnswer): Step {
  const { text, at } = answer;
  const cure = CURES[kind];
  if (cure === undefined) {
    const why = kind === 'no_tag' ? appendOutput(problem, text) : problem;
    return failAnswer(run, agent, { message: `no next step is found in its output: ${why}` }, at);
  }
  const how = isPrompt(turnFileOf(agent))
    ? `${cure} continues with this answer`
    : `${cure} continues without running the script again; \`resume --retry\` runs it again`;
  const message = `${turnSubjectOf(agent)}: its next step cannot be taken: ${problem}; ${how}`;
  const why = 'unfollowable';
  const phase = { kind: 'paused', why, message, prompt: { kind: 'state' }, answer: text } as const;
  return {
    run: withAgent(run, { ...agent, phase }),
    events: [{ kind: 'agent_paused', at, agent: agent.id, state: agent.state, why, message }],
  };
}

/** Applies the tags of one answer: a single one, or forks and perhaps the goto or join of their parent. */
function applyTags(
  run: Run,
  agent: Agent,
  { tags, implicit }: Pick<GoDecision, 'tags' | 'implicit'>,
  { requested, choice }: TransitionOrigin,
  at: number,
): Step {
  let position: Position = positionOf(agent);
  let result: string | undefined;
  const workers: Worker[] = [];
  let join: JoinTerms | undefined;
  const events: Event[] = [];
  for (const resolvedTag of tags) {
    const { tag, target } = resolvedTag;
    const outcome = TRANSITIONS[tag].follow(position, target);
    if (outcome.kind === 'ask')
      return askPerson(
        run,
        agent,
        outcome.question,
        toFollowedTag(resolvedTag),
        implicit,
        { requested: requested.map(toFollowedTag), choice },
        at,
      );
    if (outcome.kind === 'end') {
      result = outcome.result;
      continue;
    }
    position = outcome.startsTask === true ? { ...outcome.position, task: newTaskName(agent) } : outcome.position;
    for (const worker of outcome.workers ?? []) workers.push(worker);
    join = outcome.join;
    if (outcome.warning !== undefined)
      events.push({ kind: 'warning', at, agent: agent.id, state: agent.state, message: outcome.warning });
  }
  events.push({
    kind: 'transition',
    at,
    ...leftStateOf(agent),
    tag: tags[0]?.tag ?? 'result',
    tags: tags.map(toFollowedTag),
    requested: requested.map(toFollowedTag),
    choice,
    to: result === undefined ? position.state : null,
    implicit,
    cwd: position.cwd,
    depth: position.stack.length,
    input: result ?? inputText(position.input),
  });
  if (result !== undefined) {
    const ended = endAgent(run, agent, { kind: 'ended', result }, at);
    return { run: ended.run, events: [...events, ...ended.events] };
  }
  const phase = { kind: 'ready', prompt: { kind: 'state' }, since: run.seq } as const;
  const isChecked = tags[0]?.tag === 'result' && agent.rules?.checksResult === true;
  const input =
    isChecked && typeof position.input === 'string' ? { text: position.input, resultOf: agent.state } : position.input;
  const parent = { ...agent, ...position, input, ...PER_STATE_DEFAULTS, phase };
  const forked = startWorkers(run, parent, agent.state, workers, at);
  if (join === undefined) return { run: forked.run, events: [...events, ...forked.events] };
  const joining = startJoin(forked.run, getAgent(forked.run, agent.id), join, at);
  return { ...joining, events: [...events, ...forked.events, ...joining.events] };
}

/** Adds the workers that an agent forked in `forkingState` to the run; the parent has moved on already. */
function startWorkers(run: Run, parent: Agent, forkingState: string, workers: readonly Worker[], at: number): Step {
  if (workers.length === 0) return { run: withAgent(run, parent), events: [] };
  const newAgents: Agent[] = [];
  const newIds = new Set<string>();
  const idOptions = {
    isTaken: (id: string) => newIds.has(id) || indexOfAgent(run.agents, id) !== -1,
    isUnambiguous: run.archive !== null,
  };
  const forkedBy = originOf(forkingState);
  let forks = parent.forks;
  for (const { inheritsTask, takesWorktree, workflow, ...worker } of workers) {
    const next = nextWorkerId(parent.id, forks, workflow?.title ?? fileInWorkflow(worker.state), idOptions);
    forks = next.forks;
    newIds.add(next.id);
    const task = inheritsTask ? taskNameOf(parent) : null;
    const worktree = takesWorktree ? ({ kind: 'wanted' } as const) : null;
    const origin = { id: next.id, parent: parent.id, forkedBy, node: parent.node };
    newAgents.push(newAgent({ ...worker, ...origin, task, worktree, since: run.seq }));
  }
  const { agents, ...rest } = withAgent(run, { ...parent, forks });
  return {
    run: { ...rest, agents: addAgents(agents, newAgents) },
    events: newAgents.flatMap(({ id, state, cwd, input, variables, worktree }): readonly Event[] => {
      const started = {
        kind: 'agent_started',
        at,
        agent: id,
        state,
        parent: parent.id,
        cwd,
        input: inputText(input),
        variables,
      } as const;
      return worktree === null ? [started] : [started, { kind: 'worktree_opening', at, agent: id, state }];
    }),
  };
}

function positionOf(agent: Agent): Position {
  const { state, input, session, stack, cwd, task, nesting, model, effort, callVisits } = agent;
  return { state, input, session, stack, cwd, task, nesting, model, effort, callVisits };
}
