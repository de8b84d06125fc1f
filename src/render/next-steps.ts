import { findWantedWorkers } from '../core/answers/tag-combination.ts';
import { type Agent, recordedTurn, turnFileOf } from '../core/run/agent.ts';
import { microsToUsd } from '../core/run/ledger.ts';
import type { ObservedStatus, OwnerInfo } from '../core/run/observed-status.ts';
import type { WaitingAsk } from '../core/run/permission.ts';
import type { Run } from '../core/run/run.ts';
import { isCutShort } from '../core/signals/resumed.ts';
import { findTurnWait, type TurnWait, turnTrafficOf } from '../core/turns/turn-wait.ts';
import { formatAgentLabel } from './agent-labels.ts';
import { formatClock, formatCount, formatDollars, formatJoinWait, TURN_WAIT_WORDS } from './format.ts';
import {
  describeDeadline,
  describeQuestionEnd,
  listAnswerCommands,
  listWaitingAsks,
  type WaitingAnswers,
} from './questions.ts';
import { sanitizeLine } from './sanitize.ts';

/** A run as it is seen from outside. */
export interface RunSituation {
  readonly run: Run;
  readonly observedStatus: ObservedStatus;
  readonly owner: OwnerInfo | null;
  /** The reason why it waits, such as a missing node; left out if it does not. */
  readonly waitsFor?: string;
  /** The agents whose turn waits for a slot of its node; left out if there are none. */
  readonly queued?: readonly string[];
  /** Left out where nobody has looked for answers: then all questions count as waiting. */
  readonly answers?: WaitingAnswers;
}

const NO_ANSWERS: WaitingAnswers = new Map();

/** Sentences about what a run waits for, and the commands that are useful now. */
export interface NextSteps {
  readonly waitsFor: readonly string[];
  readonly commands: readonly { readonly purpose: string; readonly command: string }[];
}

/** Describes what a run waits for and what the user can do about it. */
export function describeNextSteps(situation: RunSituation, now: number): NextSteps {
  const { run, observedStatus, owner, waitsFor, answers = NO_ANSWERS } = situation;
  const { id } = run;
  const endingTurns = describeEndingTurns(run.agents);
  const problems = [...describeProblems(run), ...describeJoinedFailures(run)];
  const waits = waitsFor === undefined ? [] : [`It waits for ${waitsFor}.`];
  switch (observedStatus) {
    case 'running':
      return {
        waitsFor: [...waits, ...describeWork(situation, now), ...problems, ...describeQuestions(run, answers, now)],
        commands: [
          ...listAnswerCommands(run, true, answers, now),
          { purpose: 'To watch it', command: `raymond logs ${id} --follow` },
          { purpose: 'To stop it', command: `raymond stop ${id}` },
          ...listPausedCommands(run),
        ],
      };
    case 'stopping':
      return {
        waitsFor: [endingTurns === null ? 'It is stopping.' : `It is stopping: ${endingTurns}.`, ...waits, ...problems],
        commands: [{ purpose: 'To end it now', command: `raymond stop ${id} --now` }],
      };
    case 'crashed':
      return {
        waitsFor: [describeCrash(run, owner), ...problems],
        commands: [
          { purpose: 'To continue', command: `raymond resume ${id}` },
          ...(run.agents.some(needsRetry)
            ? [{ purpose: 'To try again what failed, too', command: `raymond resume ${id} --retry` }]
            : []),
        ],
      };
    case 'elsewhere':
      return {
        waitsFor: [`${describeOwner(owner)}: what it does cannot be seen from here.`, ...problems],
        commands: [{ purpose: 'If that process is gone', command: `raymond resume ${id} --take-over` }],
      };
    case 'completed':
      return { waitsFor: [describeCompletion(run), ...problems], commands: [] };
    default:
      return {
        waitsFor: [
          ...waits,
          ...(observedStatus === 'interrupted' ? ['It was interrupted.'] : []),
          ...describeJoinedFailures(run),
          ...describeUnfinished(run, now, answers),
        ],
        commands: listCommandsAtRest(run, now, answers),
      };
  }
}

/** The command for agents that are paused while others continue: only a resume puts them back to work. */
function listPausedCommands({ id, agents }: Run): NextSteps['commands'] {
  const paused = agents.filter(({ phase }) => phase.kind === 'paused');
  if (paused.length === 0) return [];
  const resume = `raymond resume ${id}${paused.some(isCutShort) ? ' --retry' : ''}`;
  return [{ purpose: 'To continue with what is paused', command: `raymond stop ${id} && ${resume}` }];
}

/** The commands that get a run on that nothing drives: to answer its questions, or to resume it. */
export function listCommandsAtRest(run: Run, now: number, answers = NO_ANSWERS): NextSteps['commands'] {
  const command = formatResumeCommand(run);
  const answerCommands = listAnswerCommands(run, false, answers, now);
  const needsAnswers =
    run.status === 'waiting' && listWaitingAsks(run).every((each) => describeQuestionEnd(each, answers, now) === null);
  if (command === null || needsAnswers) return answerCommands;
  return [...answerCommands, { purpose: 'To continue', command }];
}

/** A sentence for each question that waits. */
const describeQuestions = (run: Run, answers: WaitingAnswers, now: number): readonly string[] =>
  listWaitingAsks(run).map((each) => `[${formatAgentLabel(each.agent)}] ${describeQuestion(each, answers, now)}`);

function describeQuestion(waiting: WaitingAsk, answers: WaitingAnswers, now: number): string {
  const timeout = describeDeadline(waiting, answers, now);
  return `asks (${waiting.ask}${timeout === null ? '' : `, ${timeout}`}): ${waiting.question.text}`;
}

function describeWork({ run, owner, queued = [] }: RunSituation, now: number): readonly string[] {
  const { agents, hold } = run;
  const running = agents.filter(({ phase }) => recordedTurn(phase) !== null).length - queued.length;
  const sleepers = agents.flatMap((agent) =>
    agent.phase.kind === 'sleeping' ? [{ label: formatAgentLabel(agent), untilMs: agent.phase.untilMs }] : [],
  );
  const [first] = sleepers.toSorted((a, b) => a.untilMs - b.untilMs);
  const sentences: string[] = [];
  if (running > 0) sentences.push(`${formatCount(running, 'turn')} ${running === 1 ? 'is' : 'are'} under way.`);
  if (queued.length > 0)
    sentences.push(`${formatCount(queued.length, 'turn')} queued for a slot of ${nodesOf(agents, queued, owner)}.`);
  if (hold !== null)
    sentences.push(`Claude waits until ${formatClock(hold.untilMs, now)}: ${sanitizeLine(hold.message)}`);
  else sentences.push(...describeTurnWaits(run));
  if (hold === null && first !== undefined) {
    const subject =
      sleepers.length === 1 ? `${first.label} sleeps` : `${sleepers.length} agents sleep, the first of them`;
    sentences.push(`${subject} until ${formatClock(first.untilMs, now)}.`);
  }
  const joiners = agents.flatMap((agent) =>
    agent.phase.kind === 'joining' ? [`${formatAgentLabel(agent)} ${formatJoinWait(agent.phase, now)}.`] : [],
  );
  sentences.push(
    ...(joiners.length > MAX_NAMED_AGENTS ? [`${joiners.length} agents wait for their workers.`] : joiners),
  );
  return sentences;
}

/** `node one`, or `nodes one and two`: where turns of these agents are queued. */
function nodesOf(agents: readonly Agent[], queued: readonly string[], owner: OwnerInfo | null): string {
  const homes = agents.flatMap(({ id, node }) => (queued.includes(id) ? [node ?? owner?.node?.name ?? '?'] : []));
  const names = [...new Set(homes)].sort();
  return `node${names.length === 1 ? '' : 's'} ${names.join(' and ')}`;
}

/** A sentence for each thing that agents wait for before their turn. */
function describeTurnWaits(run: Run): readonly string[] {
  const traffic = turnTrafficOf(run);
  const counts = new Map<TurnWait | null, number>();
  for (const agent of run.agents) {
    if (agent.phase.kind !== 'ready') continue;
    const wait = findTurnWait(turnFileOf(agent), traffic);
    counts.set(wait, (counts.get(wait) ?? 0) + 1);
  }
  return Array.from(counts, ([wait, count]) => {
    const what = wait === null ? (count === 1 ? 'its turn' : 'their turn') : TURN_WAIT_WORDS[wait];
    return count === 1 ? `1 agent waits for ${what}.` : `${count} agents wait for ${what}.`;
  });
}

/** `2 turns are finishing`, for a run that is stopping; null if none is under way. */
export function describeEndingTurns(agents: readonly Agent[]): string | null {
  const running = agents.filter(({ phase }) => recordedTurn(phase) !== null);
  if (running.length === 0) return null;
  const subject =
    running.length > 3 ? '' : ` (${running.map((agent) => `${formatAgentLabel(agent)} in ${agent.state}`).join(', ')})`;
  return `${formatCount(running.length, 'turn')}${subject} ${running.length === 1 ? 'is' : 'are'} finishing`;
}

function describeCrash({ agents }: Run, owner: OwnerInfo | null): string {
  const ownerGone = owner?.pid == null ? 'No process drives it any more.' : `Its process ${owner.pid} is gone.`;
  const running = agents.filter(({ phase }) => recordedTurn(phase) !== null).length;
  if (running === 0) return ownerGone;
  const [were, them] = running === 1 ? ['was', 'it'] : ['were', 'them'];
  return `${ownerGone} ${formatCount(running, 'turn')} ${were} under way; a resume finds out what came of ${them}.`;
}

const describeOwner = (owner: OwnerInfo | null): string =>
  owner?.pid == null ? 'It is not known which process drives it' : `Process ${owner.pid} on ${owner.host} drives it`;

/** The command that resumes a run, with the options it needs; null if the run is completed. */
export function formatResumeCommand(run: Run): string | null {
  if (run.status === 'completed') return null;
  const { stop, options, ledger } = run;
  const args = ['raymond', 'resume', run.id];
  if (stop?.kind === 'budget') args.push('--budget', higherBudget(options.budgetMicros ?? 0, ledger.spentMicros));
  if (stop?.kind === 'iterations') args.push('--max-iterations', String(2 * (options.maxIterations ?? 1)));
  const wanted = run.agents.flatMap(({ phase }) =>
    phase.kind === 'paused' && phase.why === 'unfollowable' ? (findWantedWorkers(phase.message) ?? []) : [],
  );
  if (wanted.length > 0) args.push('--max-forks', String(wanted.reduce((most, each) => Math.max(most, each))));
  if (run.agents.some(needsRetry)) args.push('--retry');
  return args.join(' ');
}

/** Says that all agents of a run have ended, and how. */
function describeCompletion({ agents }: Run): string {
  const joined = agents.filter(({ phase }) => phase.kind !== 'ended').length;
  return joined === 0
    ? 'Every agent has ended with a result.'
    : `Every agent has ended, ${joined} without a result, and a join took note of that.`;
}

const MAX_JOINED_FAILURES = 5;

/** The failures that joins took note of, a sentence for each of the first kinds: they are told, but nothing needs to be done about them. */
export function describeJoinedFailures({ agents }: Run): readonly string[] {
  const joined = agents.filter(({ joinedBy }) => joinedBy !== null).map((agent) => ({ ...agent, joinedBy: null }));
  const failures = describeProblems({ agents: joined }).map((problem) => `Joined all the same: ${problem}`);
  const hidden = failures.length - MAX_JOINED_FAILURES;
  return hidden <= 0 ? failures : [...failures.slice(0, -hidden), `… and ${hidden} more that were joined`];
}

/** Why a run is not completed, a sentence for each reason. Agents with the same problem share one. */
export function describeUnfinished(run: Run, now: number, answers = NO_ANSWERS): readonly string[] {
  const stop = describeStop(run, now);
  return [...(stop === null ? [] : [stop]), ...describeProblems(run), ...describeQuestions(run, answers, now)];
}

/** A sentence for each problem, with the agents that have it. */
function describeProblems({ agents }: Pick<Run, 'agents'>): readonly string[] {
  const problems = new Map<string, string[]>();
  for (const agent of agents) {
    const problem = describeProblem(agent);
    if (problem === null) continue;
    const labels = problems.get(problem);
    if (labels === undefined) problems.set(problem, [formatAgentLabel(agent)]);
    else labels.push(formatAgentLabel(agent));
  }
  return Array.from(problems, ([problem, labels]) => `[${abbreviateLabels(labels)}] ${problem}`);
}

/** True if a resume without --retry would leave the agent as it is. */
const needsRetry = (agent: Agent): boolean =>
  (agent.phase.kind === 'failed' && agent.joinedBy === null) || isCutShort(agent);

function describeStop({ stop, options, ledger }: Run, now: number): string | null {
  switch (stop?.kind) {
    case 'budget':
      return `The budget of ${formatDollars(options.budgetMicros ?? 0)} is used up: ${formatDollars(ledger.spentMicros)} spent.`;
    case 'iterations':
      return `The limit of ${formatCount(options.maxIterations ?? 0, 'iteration')} is reached.`;
    case 'usage_limit':
      return `${stop.message} It ends at ${formatClock(stop.untilMs, now)}.`;
    case 'workspace':
      return `It pauses: ${stop.message.replace(/\.$/, '')}.`;
    case 'stopped':
      return 'It was told to stop.';
    default:
      return null;
  }
}

function describeProblem({ phase, state, joinedBy }: Agent): string | null {
  if (joinedBy !== null) return null;
  switch (phase.kind) {
    case 'failed':
    case 'paused':
      return `${phase.kind}: ${phase.message}`;
    case 'limited':
      return `${state} was entered ${formatCount(phase.maxVisits, 'time')}, as often as max_visits allows: raise it in that file first.`;
    default:
      return null;
  }
}

const MAX_NAMED_AGENTS = 3;

const abbreviateLabels = (labels: readonly string[]): string =>
  labels.length <= MAX_NAMED_AGENTS
    ? labels.join(', ')
    : `${labels.slice(0, MAX_NAMED_AGENTS - 1).join(', ')} and ${labels.length - MAX_NAMED_AGENTS + 1} more`;

/** About twice the budget, and more than was spent, rounded to a number that a person would choose. */
function higherBudget(budgetMicros: number, spentMicros: number): string {
  const targetUsd = Math.max(2 * microsToUsd(budgetMicros), 1.5 * microsToUsd(spentMicros), 0.01);
  const unit = 10 ** Math.floor(Math.log10(targetUsd));
  return String(Number((Math.ceil(Number((targetUsd / unit).toPrecision(6))) * unit).toPrecision(2)));
}
