import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { microsToUsd, usdToMicros } from '../../core/run/ledger.ts';
import type { Answered, Failed } from '../../core/signals/signal.ts';
import type { PromptTurn } from '../../core/turns/due.ts';
import { readJsonFile } from '../../json-file.ts';
import type { State } from '../../language/state.ts';
import { chooseAnswer } from '../../scenario/choose-answer.ts';
import type { CannedAnswer, CannedFailureName, CannedSummary } from '../../scenario/scenario.ts';
import type { Backend, ScriptRunner } from '../backend.ts';
import { createActivityReporter } from '../claude/activity.ts';
import { UNKNOWN_COSTS } from '../claude/cost.ts';
import type { ClaudeEvent } from '../claude/event.ts';
import { renderPrompt } from '../claude/invocation.ts';
import { type ClaudeOutcome, judgeClaudeTurn, type TurnEndCause } from '../claude/outcome.ts';
import { createClaudePrintReader } from '../claude/prints.ts';
import { readQuotaWindows } from '../claude/usage-limit.ts';
import { PrintReporter } from '../print-reporter.ts';
import { answeredSignal } from '../signals.ts';
import type { TurnContext } from '../turn-context.ts';
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
import {
  actionLine,
  cannedCost,
  compactedLine,
  initLine,
  listCannedActions,
  quotaLines,
  ReplayOutput,
  resultLine,
  type StreamLine,
  syntheticLine,
  toolResultLine,
} from './output.ts';
import { ReplayScriptRunner } from './script-runner.ts';

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

  async prepare(turn: PromptTurn, state: State): Promise<readonly string[]> {
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

  take(turn: PromptTurn, adopted: boolean): Promise<Answered | Failed> {
    return failIfUnusable(this.context, turn, async () => {
      const dir = await reclaimTurnFolder(this.context, turn, adopted);
      if (turn.prompt.kind === 'compact') return this.compact(turn, dir);
      const { answer: whole, paid } = this.answerFor(turn);
      const answer = cutToShare(turn, whole, paid);
      writePaidShares(dir, paid, whole, answer);
      requireResumedSession(this.context, turn, answer);
      // A turn that is adopted says it again: the same message counts once.
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
  private async compact(turn: PromptTurn, dir: string): Promise<Answered | Failed> {
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
  private answerFor(turn: PromptTurn): ReturnType<typeof requireAnswer> & { readonly paid: PaidShares } {
    const paid = readPaidShares(this.context, turn);
    return { ...requireAnswer(this.context, { ...turn, attempt: turn.attempt - paid.stops }), paid };
  }

  /** Prints the lines that Claude Code would print and writes its files, in the time that the answer takes. */
  private async replay(turn: PromptTurn, answer: CannedAnswer, output: ReplayOutput): Promise<TurnEndCause> {
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

  private async toSignal(turn: PromptTurn, answer: CannedAnswer, outcome: ClaudeOutcome): Promise<Answered | Failed> {
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
function createEventHandler(context: ReplayContext, { agent }: PromptTurn, prints: PrintReporter) {
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

/** The end of a turn that is to fail: its last lines, and whether it times out. */
interface FailureFixture {
  readonly lines: readonly StreamLine[];
  readonly endCause: 'exited' | 'timeout';
}

type BuildFixture = (answer: CannedAnswer, session: string, nowMs: number) => FailureFixture;

/** The API refused: Claude Code makes up a message, and its result is both a success and an error. */
const apiFailure =
  (text: string, error: string, overrides: StreamLine = {}): BuildFixture =>
  (answer, session) => ({
    lines: [
      syntheticLine(text, error, session),
      resultLine({ ...answer, text }, session, { is_error: true, terminal_reason: 'api_error', ...overrides }),
    ],
    endCause: 'exited',
  });

/** Claude Code gave up by itself: such a result has no text. */
const abortedTurn =
  (subtype: string, describe: (session: string) => string): BuildFixture =>
  (answer, session) => {
    const { result: _, ...line } = resultLine(answer, session, {
      subtype,
      is_error: true,
      errors: [describe(session)],
    });
    return { lines: [{ ...line, terminal_reason: null }], endCause: 'exited' };
  };

/** The output of Claude Code for each kind of failure; it is judged like the output of a real turn. */
const FAILURE_FIXTURES: Record<CannedFailureName, BuildFixture> = {
  overloaded: apiFailure('API Error: 529 Overloaded', 'overloaded', { api_error_status: 529 }),
  no_result: () => ({ lines: [], endCause: 'exited' }),
  timeout: () => ({ lines: [], endCause: 'timeout' }),
  usage_limit: (answer, session, nowMs) => {
    const resetsAt = Math.ceil(nowMs / 1000 + answer.resetsInSeconds);
    const info = { status: 'rejected', resetsAt, rateLimitType: 'five_hour' };
    const { lines, endCause } = apiFailure("You've hit your session limit", 'rate_limit', { api_error_status: 429 })(
      answer,
      session,
      nowMs,
    );
    return { lines: [{ type: 'rate_limit_event', rate_limit_info: info, session_id: session }, ...lines], endCause };
  },
  authentication: apiFailure('Invalid API key', 'authentication_failed', { api_error_status: 401 }),
  billing: apiFailure('Credit balance is too low', 'billing_error', { api_error_status: 400 }),
  model: apiFailure('There is no such model', 'model_not_found', { api_error_status: 404 }),
  invalid_request: apiFailure('API Error: 400 Invalid request', 'invalid_request', { api_error_status: 400 }),
  prompt_too_long: apiFailure('Prompt is too long', 'invalid_request', { terminal_reason: 'prompt_too_long' }),
  refusal: apiFailure('Claude is unable to respond to this request', 'invalid_request', { stop_reason: 'refusal' }),
  max_turns: abortedTurn('error_max_turns', () => 'Reached maximum number of turns'),
  budget: abortedTurn('error_max_budget_usd', () => 'Reached maximum budget'),
  session_lost: abortedTurn('error_during_execution', (session) => `No conversation found with session ID: ${session}`),
};

const PAID_SHARES_SCHEMA = z.object({ paidMicros: z.number(), stops: z.number() });

/** The share of earlier turns of a visit in its next answer: what they paid, and how many were stopped. */
type PaidShares = z.infer<typeof PAID_SHARES_SCHEMA>;

const PAID_SHARES_FILE = 'shares.json';
const NOTHING_PAID: PaidShares = { paidMicros: 0, stops: 0 };

/** The amount paid before this turn, as the previous turn left it in its folder. */
function readPaidShares(context: TurnContext, turn: PromptTurn): PaidShares {
  if (turn.attempt === 1) return NOTHING_PAID;
  const file = join(context.folderOf({ ...turn, number: turn.number - 1 }), PAID_SHARES_FILE);
  const found = readJsonFile(file, PAID_SHARES_SCHEMA);
  return found.kind === 'data' ? found.data : NOTHING_PAID;
}

/**
 * The part of an answer that is played now. Like Claude Code, a turn stops where its share of the budget is used up, and
 * the next one continues with what is left to pay. The last share of a run is not cut: it ends with the answer.
 */
function cutToShare(turn: PromptTurn, answer: CannedAnswer, { paidMicros }: PaidShares): CannedAnswer {
  const totalMicros = usdToMicros(answer.costUsd);
  const leftMicros = Math.max(0, totalMicros - paidMicros);
  const { budgetMicros, isShare } = turn;
  const stops = isShare && budgetMicros !== null && leftMicros > budgetMicros && answer.fail === null;
  if (!stops && paidMicros === 0) return answer;
  const nowMicros = stops ? budgetMicros : leftMicros;
  const part = {
    ...answer,
    costUsd: microsToUsd(nowMicros),
    seconds: totalMicros === 0 ? answer.seconds : (answer.seconds * nowMicros) / totalMicros,
  };
  return stops ? { ...part, fail: 'budget', text: '', write: {}, uses: [], deny: [], crash: false } : part;
}

/** Leaves in the folder of a turn what was paid, for the turn after it. */
function writePaidShares(dir: string, before: PaidShares, answer: CannedAnswer, part: CannedAnswer): void {
  const stopped = answer.fail === null && part.fail === 'budget';
  if (!stopped && before.stops === 0) return;
  const after: PaidShares = stopped
    ? { paidMicros: before.paidMicros + usdToMicros(part.costUsd), stops: before.stops + 1 }
    : { paidMicros: 0, stops: before.stops };
  writeFileSync(join(dir, PAID_SHARES_FILE), JSON.stringify(after), { mode: 0o600 });
}
