import { usdToMicros } from '../../core/run/ledger.ts';
import type { Answered, Failed } from '../../core/signals/signal.ts';
import type { ClaudeTurn } from '../../core/turns/due.ts';
import type { State } from '../../language/state.ts';
import { chooseAnswer } from '../../scenario/choose-answer.ts';
import type { CannedAnswer, CannedSummary } from '../../scenario/scenario.ts';
import type { Backend, ScriptRunner } from '../backend.ts';
import { createActivityReporter } from '../claude/activity.ts';
import { UNKNOWN_COSTS } from '../claude/cost.ts';
import type { ClaudeEvent } from '../claude/event.ts';
import { renderPrompt } from '../claude/invocation.ts';
import { type ClaudeOutcome, judgeClaudeTurn, type TurnEndCause } from '../claude/outcome.ts';
import { createClaudePrintReader } from '../claude/prints.ts';
import { readQuotaWindows } from '../claude/rate-limit.ts';
import { PrintReporter } from '../print-reporter.ts';
import { answeredSignal } from '../signals.ts';
import { listCannedActions } from './canned-actions.ts';
import {
  crashIfRequested,
  failIfUnusable,
  mayExceedVisits,
  NO_UNKNOWN_VARIABLES,
  type ReplayContext,
  reclaimTurnFolder,
  requireAnswer,
  requireResumedSession,
  unsetVariableWarnings,
  waitAnswerTime,
  writeAnswerFile,
} from './canned-turn.ts';
import { FAILURE_FIXTURES } from './failure-fixtures.ts';
import {
  actionLine,
  cannedCost,
  compactedLine,
  initLine,
  quotaLines,
  ReplayOutput,
  resultLine,
  toolResultLine,
} from './output.ts';
import { ReplayScriptRunner } from './script-runner.ts';
import { cutToShare, type PaidShares, readPaidShares, writePaidShares } from './share.ts';

/** Answers prompts, and runs the scripts that the file has answers for, with canned answers. Nothing is started. */
export class ReplayBackend implements Backend {
  private readonly context: ReplayContext;
  private readonly scripts: ScriptRunner;
  /** The warnings that the author has seen. */
  private readonly warned = new Set<string>();

  constructor(context: ReplayContext) {
    this.context = context;
    this.scripts = new ReplayScriptRunner(context);
  }

  scriptRunnerFor(script: string): ScriptRunner | undefined {
    const { answers: parts, scripts } = this.context.scenario;
    return parts.has(script) || scripts === 'played' ? this.scripts : undefined;
  }

  async prepare(turn: ClaudeTurn, state: State): Promise<readonly string[]> {
    if (turn.prompt.kind === 'compact') {
      await this.context.makeFolder(turn, { stdin: renderPrompt(turn, state.text).stdin });
      return [];
    }
    // An agent that may not enter the state needs no answer.
    const { unknown } = mayExceedVisits(turn, state.rules) ? NO_UNKNOWN_VARIABLES : this.answerFor(turn);
    const { stdin, warnings } = renderPrompt(turn, state.text);
    await this.context.makeFolder(turn, { stdin });
    const newWarnings = [...warnings, ...unsetVariableWarnings(this.context, turn, unknown)].filter(
      (warning) => !this.warned.has(warning),
    );
    for (const warning of newWarnings) this.warned.add(warning);
    return newWarnings;
  }

  take(turn: ClaudeTurn, adopted: boolean): Promise<Answered | Failed> {
    return failIfUnusable(this.context, turn, async () => {
      const dir = await reclaimTurnFolder(this.context, turn, adopted);
      if (turn.prompt.kind === 'compact') return this.compact(turn, dir);
      const { answer: whole, paid } = this.answerFor(turn);
      const answer = cutToShare(turn, whole, paid);
      writePaidShares(dir, paid, whole, answer);
      requireResumedSession(this.context, turn, answer);
      // A turn that is adopted says it again: the same words are taken up once.
      if (answer.say !== null) this.context.say(turn, { id: `${turn.agent}/${turn.number}`, text: answer.say });
      const prints = new PrintReporter(this.context, turn, adopted);
      const output = new ReplayOutput(dir, createEventHandler(this.context, turn, prints));
      const endCause = await this.replay(turn, answer, output).finally(() => output.flush());
      await crashIfRequested(this.context, answer, adopted);
      const outcome = judgeCannedTurn(answer, output, endCause, this.context.clock.now());
      return { ...(await this.toSignal(turn, answer, outcome)), ...prints.signalFields };
    });
  }

  /** Summarizes the conversation as the answer to the prompt after it says. */
  private async compact(turn: ClaudeTurn, dir: string): Promise<Answered | Failed> {
    const session = turn.record?.session?.id ?? '';
    const next = chooseAnswer(this.context.scenario, { ...turn, attempt: 1 });
    const { costUsd, fails } = next.kind === 'answer' ? next.answer.compact : FREE_SUMMARY;
    const text = fails ? 'Not enough messages to compact.' : '';
    const output = new ReplayOutput(dir, () => {});
    output.print(initLine(session, turn.cwd), ...(fails ? [] : [compactedLine(session)]));
    output.print(resultLine({ text, costUsd, deny: [] }, session));
    output.flush();
    const cost = cannedCost({ kind: 'reported', micros: usdToMicros(costUsd) });
    return answeredSignal(this.context, turn, this.context.clock.now(), { text, denials: [], cost });
  }

  /** The answer for a turn. One that was stopped at its share is given again, so such turns do not count. */
  private answerFor(turn: ClaudeTurn): ReturnType<typeof requireAnswer> & { readonly paid: PaidShares } {
    const paid = readPaidShares(this.context, turn);
    return { ...requireAnswer(this.context, { ...turn, attempt: turn.attempt - paid.stops }), paid };
  }

  /** Prints the lines that Claude Code would print and writes its files, in the time that the answer takes. */
  private async replay(turn: ClaudeTurn, answer: CannedAnswer, output: ReplayOutput): Promise<TurnEndCause> {
    const session = turn.record?.session?.id ?? '';
    const actions = listCannedActions(answer);
    if (answer.fail !== 'session_lost') output.print(initLine(session, turn.cwd));
    const waitForShare = (): Promise<boolean> => {
      if (answer.seconds > 0) output.flush();
      return waitAnswerTime(this.context, turn, answer, Math.max(1, actions.length));
    };
    if (actions.length === 0 && !(await waitForShare())) return 'stopped';
    for (const [index, action] of actions.entries()) {
      output.print(actionLine(action, index + 1, session));
      if (!(await waitForShare())) return 'stopped';
      if (action.file !== null) writeAnswerFile(this.context, turn, action.file);
      const toolResult = toolResultLine(action, index + 1, session);
      if (toolResult !== null) output.print(toolResult);
    }
    output.print(...quotaLines(answer, session, this.context.clock.now()));
    if (answer.fail === null) {
      output.print(resultLine(answer, session));
      return 'exited';
    }
    const { lines, endCause } = FAILURE_FIXTURES[answer.fail](answer, session, this.context.clock.now());
    output.print(...lines);
    return endCause;
  }

  private async toSignal(turn: ClaudeTurn, answer: CannedAnswer, outcome: ClaudeOutcome): Promise<Answered | Failed> {
    const { agent } = turn;
    const at = this.context.clock.now();
    // Without a result a turn reports no cost, but the file has it.
    const cost = cannedCost({ kind: outcome.cost.kind, micros: usdToMicros(answer.costUsd) });
    if (outcome.kind === 'failed') {
      const { failure } = outcome;
      if (failure.kind === 'stopped') return { ...outcome, at, agent, cost: cannedCost(outcome.cost), jitter: 0 };
      const untilMs = at + Math.round(answer.resetsInSeconds * 1000);
      const limited = failure.kind === 'usage_limit' ? { ...failure, untilMs } : failure;
      return { ...outcome, at, agent, failure: limited, cost, jitter: 0 };
    }
    return answeredSignal(this.context, turn, at, { ...outcome, cost });
  }
}

/** Shows what a canned turn does and says, as if Claude Code did. */
function createEventHandler(context: ReplayContext, { agent }: ClaudeTurn, prints: PrintReporter) {
  const reportActivity = createActivityReporter(context, agent);
  const readPrintedTexts = createClaudePrintReader();
  return (event: ClaudeEvent): void => {
    reportActivity?.(event);
    if (event.kind === 'rate_limit') context.quota?.report(readQuotaWindows(event, context.clock.now()));
    prints.add('stdout', readPrintedTexts(event));
  };
}

/** Where the scenario has no answer for the state, its turn says so. */
const FREE_SUMMARY: CannedSummary = { costUsd: 0, fails: false };

/** Judges a canned turn by the same rules as a real one. */
function judgeCannedTurn(
  { fail }: CannedAnswer,
  { transcript }: ReplayOutput,
  endCause: TurnEndCause,
  endedAtMs: number,
): ClaudeOutcome {
  return judgeClaudeTurn({
    transcript,
    endCause,
    exitCode: fail === null ? 0 : 1,
    stderr: '',
    timeoutMessage: 'no output for too long',
    resumable: true,
    endedAtMs,
    outputLost: false,
    priorLimits: 0,
    costBaseline: UNKNOWN_COSTS,
  });
}
