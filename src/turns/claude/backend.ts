import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import { choosePreference } from '../../core/preference.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import type { State } from '../../core/state.ts';
import type { ProcessCommand } from '../../process/command.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { isOutputLost } from '../../process/full-disk.ts';
import { followLines, lastLines, MAX_LINE_BYTES } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { Backend } from '../backend.ts';
import { claudeEnvironment } from '../environment.ts';
import { PrintReporter } from '../print-reporter.ts';
import { adoptTurn, mayTakeAgain, notRunFailure, type ProcessEnd, runTurn, type Supervision } from '../process-turn.ts';
import { answeredSignal, failedSignal } from '../signals.ts';
import { stagger } from '../stagger.ts';
import { type TurnContext, turnMarker } from '../turn-context.ts';
import { createTurnMeta, describeTimeout, readTurnMeta, TURN_META_FILE } from '../turn-meta.ts';
import { createActivityReporter } from './activity.ts';
import { readCostBaseline, writeCostBaseline } from './cost.ts';
import { isHopelessRetry } from './failure.ts';
import type { ClaudeCode } from './find-claude.ts';
import { claudeArguments, renderPrompt } from './invocation.ts';
import { judgeClaudeTurn, type TurnEndCause } from './outcome.ts';
import { parseClaudeBytes } from './parse-event.ts';
import { learnPrices, type Prices } from './prices.ts';
import { createClaudePrintReader } from './prints.ts';
import { claudeConfigDir, findSessionFile, hasMessages } from './session-file.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, isTurnDone, modelCosts, type Transcript } from './transcript.ts';
import { LimitBackoff } from './usage-limit.ts';

const LONG_LINE_WARNING = `Claude Code printed an event of ${MAX_LINE_BYTES / 1024 ** 2} MiB or more, which was not read: what it said in it is lost`;

/** Claude Codes that start at the same moment fight over one settings file. */
const START_GAP_MS = 100;
/** How long Claude Code may stay after its result, unless its timeout is shorter. */
const EXIT_GRACE_MS = 10_000;
const START_LOST =
  'the machine went down, and no trace is left of whether Claude Code had begun; `resume --retry` sends the prompt again';

/** Answers prompts with Claude Code. */
export class ClaudeBackend implements Backend {
  private readonly context: TurnContext;
  private readonly findClaude: () => Promise<ClaudeCode>;
  /** The folder in which Claude Code keeps its conversations. */
  private readonly configDir: string;
  private readonly prepared = new Map<string, State>();
  private readonly waitForStartSlot = stagger(START_GAP_MS);
  /** The warnings that the author has seen. */
  private readonly warned = new Set<string>();
  private prices: Prices = {};
  private readonly limitBackoff = new LimitBackoff();

  /** `findClaude` throws a RaymondError that says what to do if there is no Claude Code. */
  constructor(context: TurnContext, findClaude: () => Promise<ClaudeCode>) {
    this.context = context;
    this.findClaude = findClaude;
    this.configDir = claudeConfigDir(context.env);
  }

  async prepare(turn: ClaudeTurn, state: State): Promise<readonly string[]> {
    await this.findClaude();
    const { stdin, warnings } = renderPrompt(turn, state.text);
    const meta = JSON.stringify(createTurnMeta(state, this.context.options));
    await this.context.makeFolder(turn, { stdin, [TURN_META_FILE]: meta });
    this.prepared.set(turn.agent, state);
    const newWarnings = warnings.filter((warning) => !this.warned.has(warning));
    for (const warning of newWarnings) this.warned.add(warning);
    return newWarnings;
  }

  async take(turn: ClaudeTurn, adopted: boolean): Promise<Answered | Failed> {
    const { context } = this;
    const session = requireSession(turn);
    let transcript = EMPTY_TRANSCRIPT;
    let outputRead: Promise<void> = Promise.resolve();
    let warnedOfLength = false;
    const meta = readTurnMeta(context, turn);
    const { timeoutMs } = meta;
    const reportActivity = createActivityReporter(context, turn.agent);
    const prints = new PrintReporter(context, turn, adopted);
    const readPrintedTexts = createClaudePrintReader();
    const hopeless = new AbortController();
    const supervision: Supervision = {
      timeoutMs,
      hopeless: hopeless.signal,
      grace: { ms: Math.min(EXIT_GRACE_MS, timeoutMs ?? EXIT_GRACE_MS), isDone: () => isTurnDone(transcript) },
      onRunning(exited) {
        const readLine = (line: Buffer): void => {
          if (line.length >= MAX_LINE_BYTES && !warnedOfLength) {
            warnedOfLength = true;
            context.warn(turn, LONG_LINE_WARNING);
          }
          const event = parseClaudeBytes(line);
          transcript = addClaudeEvent(transcript, event);
          reportActivity?.(event);
          prints.add('stdout', readPrintedTexts(event));
          if (event.kind === 'retry' && isHopelessRetry(event)) hopeless.abort();
        };
        outputRead = followLines(turnFiles(context.folderOf(turn)).stdout, readLine, { until: exited });
      },
    };
    const end = adopted ? await adoptTurn(context, turn, supervision) : await this.start(turn, session, supervision);
    await outputRead;
    const signal = await this.toSignal(turn, session, end, transcript, describeTimeout(meta));
    return { ...signal, ...prints.signalFields };
  }

  private async start(turn: ClaudeTurn, session: SessionUse, supervision: Supervision): Promise<ProcessEnd> {
    const { configDir, context, prices } = this;
    await writeCostBaseline(context.folderOf(turn), configDir, turn.cwd, session, prices);
    await this.waitForStartSlot();
    return runTurn(context, turn, await this.buildCommand(turn, session), supervision);
  }

  private async buildCommand(turn: ClaudeTurn, session: SessionUse): Promise<ProcessCommand> {
    const { options } = this.context;
    const state = this.prepared.get(turn.agent);
    if (state === undefined) throw new Error(`the turn of ${turn.agent} was not prepared`);
    this.prepared.delete(turn.agent);
    const { path, version } = await this.findClaude();
    const { permissionMode, skipPermissions } = options;
    const { budgetMicros, taskFolder, runFolder } = turn;
    const folders = [taskFolder, runFolder].filter((folder) => folder !== null);
    const preference = choosePreference(turn.preference, state, options);
    const call = {
      ...preference,
      session,
      permissionMode,
      skipPermissions,
      budgetMicros,
      folders,
      settings: state,
      version,
    };
    return {
      file: path,
      args: claudeArguments(call),
      cwd: turn.cwd,
      env: claudeEnvironment(this.context.environmentOf(turn.state)),
    };
  }

  /** Judges a turn that is over. None of its processes may be left when its conversation is used again. */
  private async toSignal(
    turn: ClaudeTurn,
    session: SessionUse,
    end: ProcessEnd,
    transcript: Transcript,
    timeoutMessage: string,
  ): Promise<Answered | Failed> {
    const { context } = this;
    const dir = context.folderOf(turn);
    if (end.kind !== 'ended') {
      const failure = notRunFailure(end, 'invalid_request', START_LOST);
      return failedSignal(turn, end.atMs, mayTakeAgain(context, failure, end) ? { ...failure, kind: 'lost' } : failure);
    }
    const { exit, atMs: at } = end;
    if (exit.kind === 'died' || exit.code !== 0) {
      await endTurn(dir, turnMarker(context, turn), { graceMs: END_GRACE_MS });
    }
    const outcome = judgeClaudeTurn({
      transcript,
      isCompaction: turn.prompt.kind === 'compact',
      endCause: turnEndCause(end),
      exitCode: exit.kind === 'died' || exit.code > 128 ? null : exit.code,
      stderr: await lastLines(turnFiles(dir).stderr, 20, 4096),
      timeoutMessage,
      outputLost: isOutputLost(dir),
      resumable: await this.isResumable(turn, transcript.sessionId ?? session.id),
      endedAtMs: at,
      priorLimits: this.limitBackoff.priorLimits(at),
      costBaseline: readCostBaseline(context, turn),
    });
    const { sessionId } = transcript;
    const reported = sessionId === null || sessionId === session.id ? {} : { reportedSession: sessionId };
    this.prices = learnPrices(this.prices, modelCosts(transcript));
    if (outcome.kind === 'failed') {
      const { kind, untilMs } = outcome.failure;
      if (kind === 'usage_limit' && untilMs !== undefined) this.limitBackoff.recordLimit(at, untilMs);
      return { ...outcome, ...reported, at, agent: turn.agent, jitter: Math.random() };
    }
    this.limitBackoff.recordSuccess(turn.record?.startedAt ?? 0);
    return answeredSignal(context, turn, at, { ...outcome, ...reported });
  }

  private async isResumable(turn: ClaudeTurn, sessionId: string): Promise<boolean> {
    const file = await findSessionFile(this.configDir, turn.cwd, sessionId);
    return file !== null && hasMessages(file);
  }
}

function requireSession({ agent, record }: ClaudeTurn): SessionUse {
  if (record?.session == null) throw new Error(`the turn of ${agent} has no session on record`);
  return record.session;
}

/** A process that was found dead is gone; one that died while we watched has failed. */
function turnEndCause({ exit, endCause, found }: Extract<ProcessEnd, { kind: 'ended' }>): TurnEndCause {
  return found !== null && exit.kind === 'died' && endCause === 'exited' ? 'gone' : endCause;
}
