import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import type { Failure } from '../../core/failure.ts';
import { choosePreference } from '../../core/preference.ts';
import type { Options } from '../../core/run.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import type { State } from '../../core/state.ts';
import { MARKER_VARIABLE, type ProcessCommand } from '../../process/command.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { followLines, lastLines } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { Backend } from '../backend.ts';
import { claudeEnvironment } from '../environment.ts';
import { lookUpFolders } from '../folders.ts';
import { adoptTurn, type ProcessEnd, runTurn, type Supervision } from '../process-turn.ts';
import { stagger } from '../stagger.ts';
import { type TurnContext, turnMarker } from '../turn-context.ts';
import { createTurnMeta, describeTimeout, readTurnMeta, TURN_META_FILE } from '../turn-meta.ts';
import { createActivityReporter } from './activity.ts';
import { readCostBaseline, writeCostBaseline } from './cost.ts';
import type { ClaudeCode } from './find-claude.ts';
import { claudeArguments, renderPrompt } from './invocation.ts';
import { judgeClaudeTurn, type TurnEndCause } from './outcome.ts';
import { parseClaudeLine } from './parse-event.ts';
import { learnPrices, type Prices } from './prices.ts';
import { findSessionFile, hasMessages } from './session-file.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, isTurnDone, modelCosts, type Transcript } from './transcript.ts';
import { LimitBackoff } from './usage-limit.ts';

/** What Claude Code needs to know about the run it works for. */
export interface ClaudeBackendDeps {
  readonly context: TurnContext;
  readonly options: Options;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where Claude Code keeps its conversations. */
  readonly configDir: string;
  /** Finds Claude Code, or throws a RaymondError that says what to do. */
  readonly find: () => Promise<ClaudeCode>;
  readonly kill: AbortSignal;
}

/** Several Claude Codes that start at once fight over one settings file. */
const START_GAP_MS = 100;
/** How long Claude Code may stay after its result, where it may be silent for so long at all. */
const EXIT_GRACE_MS = 10_000;

/** Claude Code as the one who answers prompts. */
export class ClaudeBackend implements Backend {
  private readonly deps: ClaudeBackendDeps;
  private readonly prepared = new Map<string, { readonly state: State; readonly budgetMicros: number | null }>();
  private readonly waitForStartSlot = stagger(START_GAP_MS);
  /** What the author has been told already. */
  private readonly warned = new Set<string>();
  private prices: Prices = {};
  private readonly limitBackoff = new LimitBackoff();

  constructor(deps: ClaudeBackendDeps) {
    this.deps = deps;
  }

  async prepare(turn: ClaudeTurn, state: State): Promise<readonly string[]> {
    await this.deps.find();
    const { stdin, warnings } = renderPrompt(turn, state.text);
    const meta = JSON.stringify(createTurnMeta(state, this.deps.options));
    await this.deps.context.makeFolder(turn, { stdin, [TURN_META_FILE]: meta });
    this.prepared.set(turn.agent, { state, budgetMicros: turn.budgetMicros });
    const newWarnings = warnings.filter((warning) => !this.warned.has(warning));
    for (const warning of newWarnings) this.warned.add(warning);
    return newWarnings;
  }

  async take(turn: ClaudeTurn, adopted: 'this' | 'earlier'): Promise<Answered | Failed> {
    const { context, kill } = this.deps;
    const dir = context.folderOf(turn);
    const session = requireSession(turn);
    let transcript = EMPTY_TRANSCRIPT;
    let outputRead: Promise<void> = Promise.resolve();
    const { timeoutMs } = readTurnMeta(dir);
    const reportActivity = createActivityReporter(context.onActivity, turn.agent);
    const supervision: Supervision = {
      marker: turnMarker(context, turn),
      timeoutMs,
      grace: { ms: Math.min(EXIT_GRACE_MS, timeoutMs ?? EXIT_GRACE_MS), isDone: () => isTurnDone(transcript) },
      kill,
      onRunning(exited) {
        const readLine = (line: Buffer): void => {
          const event = parseClaudeLine(line.toString('utf8'));
          transcript = addClaudeEvent(transcript, event);
          reportActivity?.(event);
        };
        outputRead = followLines(turnFiles(dir).stdout, readLine, { until: exited });
      },
    };
    const end =
      adopted === 'this' ? await this.start(turn, session, dir, supervision) : await adoptTurn(dir, supervision);
    await outputRead;
    return this.toSignal(turn, session, dir, end, transcript, supervision);
  }

  private async start(
    turn: ClaudeTurn,
    session: SessionUse,
    dir: string,
    supervision: Supervision,
  ): Promise<ProcessEnd> {
    const { configDir, context } = this.deps;
    await writeCostBaseline(dir, configDir, turn.cwd, session, this.prices);
    await this.waitForStartSlot();
    return runTurn(dir, await this.buildCommand(turn, session, turnMarker(context, turn)), supervision);
  }

  private async buildCommand(turn: ClaudeTurn, session: SessionUse, marker: string): Promise<ProcessCommand> {
    const { options, env, find } = this.deps;
    const prepared = this.prepared.get(turn.agent);
    if (prepared === undefined) throw new Error(`the turn of ${turn.agent} was not made ready`);
    this.prepared.delete(turn.agent);
    const { path, version } = await find();
    const { permissionMode, skipPermissions } = options;
    const { state, budgetMicros } = prepared;
    const preference = choosePreference(turn.preference, state, options);
    const call = { ...preference, session, permissionMode, skipPermissions, budgetMicros, settings: state, version };
    return {
      file: path,
      args: claudeArguments(call),
      cwd: turn.cwd,
      env: { ...claudeEnvironment(env), [MARKER_VARIABLE]: marker },
    };
  }

  /** Judges a turn that is over; nothing of it may still be at work when its conversation is used again. */
  private async toSignal(
    turn: ClaudeTurn,
    session: SessionUse,
    dir: string,
    end: ProcessEnd,
    transcript: Transcript,
    { marker }: Supervision,
  ): Promise<Answered | Failed> {
    if (end.kind !== 'ended') return notStartedSignal(turn, end);
    const { exit, atMs: at } = end;
    if (exit.kind === 'died' || exit.code !== 0) await endTurn(dir, marker, { graceMs: END_GRACE_MS });
    const outcome = judgeClaudeTurn({
      transcript,
      endCause: turnEndCause(end),
      exitCode: exit.kind === 'died' || exit.code > 128 ? null : exit.code,
      stderr: await lastLines(turnFiles(dir).stderr, 20, 4096),
      timeoutMessage: describeTimeout(readTurnMeta(dir)),
      resumable: await this.isResumable(turn, session),
      endedAtMs: at,
      priorLimits: this.limitBackoff.priorLimits(at),
      costBaseline: await readCostBaseline(dir),
    });
    this.prices = learnPrices(this.prices, modelCosts(transcript));
    const signalBase = { at, agent: turn.agent };
    if (outcome.kind === 'failed') {
      const { kind, untilMs } = outcome.failure;
      if (kind === 'usage_limit' && untilMs !== undefined) this.limitBackoff.recordLimit(at, untilMs);
      return { ...signalBase, ...outcome, jitter: Math.random() };
    }
    this.limitBackoff.recordSuccess(turn.record?.startedAt ?? 0);
    const { text } = outcome;
    const [scope, folders] = await Promise.all([
      this.deps.context.readScope(),
      lookUpFolders(text, turn.policy, turn.cwd),
    ]);
    return { ...signalBase, ...outcome, scope, folders };
  }

  private async isResumable(turn: ClaudeTurn, session: SessionUse): Promise<boolean> {
    const file = await findSessionFile(this.deps.configDir, turn.cwd, session.id);
    return file !== null && hasMessages(file);
  }
}

function requireSession({ agent, record }: ClaudeTurn): SessionUse {
  if (record?.session == null) throw new Error(`the turn of ${agent} has no session on record`);
  return record.session;
}

/** A process that was found dead by a later life is gone; one that we saw die has failed. */
function turnEndCause({ exit, endCause, adopted }: Extract<ProcessEnd, { kind: 'ended' }>): TurnEndCause {
  return adopted && exit.kind === 'died' && endCause === 'itself' ? 'gone' : endCause;
}

/** A turn of which nothing ran is simply taken again, unless the machine cannot run it. */
function notStartedSignal({ agent }: ClaudeTurn, end: Exclude<ProcessEnd, { kind: 'ended' }>): Failed {
  const failure: Failure =
    end.kind === 'never_started'
      ? { kind: 'lost', message: 'it never started' }
      : { kind: end.transient ? 'transient' : 'invalid_request', message: end.message };
  return { kind: 'failed', at: Date.now(), agent, failure, cost: null, progress: 'none', jitter: Math.random() };
}
