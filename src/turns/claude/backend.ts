import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import type { Run } from '../../core/run.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import type { State } from '../../core/state.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { isOutputLost } from '../../process/full-disk.ts';
import { followLines, lastLines } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { Backend } from '../backend.ts';
import { adoptTurn, mayTakeAgain, notRunFailure, type ProcessEnd, runTurn, type Supervision } from '../process-turn.ts';
import { answeredSignal, failedSignal } from '../signals.ts';
import { stagger } from '../stagger.ts';
import { type TurnContext, turnMarker } from '../turn-context.ts';
import { createTurnMeta, describeTimeout, readTurnMeta, TURN_META_FILE } from '../turn-meta.ts';
import { buildClaudeCommand } from './command.ts';
import { readCostBaseline, writeCostBaseline } from './cost.ts';
import type { ClaudeCode } from './find-claude.ts';
import { renderPrompt } from './invocation.ts';
import { type EndedTurnProcess, OpenTurns } from './open-turns.ts';
import { judgeClaudeTurn, type TurnEndCause } from './outcome.ts';
import { learnPrices, type Prices } from './prices.ts';
import { bringSession, storeSession } from './session-copy.ts';
import { claudeConfigDir, findSessionFile, hasMessages } from './session-file.ts';
import { modelCosts, type Transcript } from './transcript.ts';
import { TurnReading } from './turn-reading.ts';
import type { Words } from './turn-words.ts';
import { LimitBackoff } from './usage-limit.ts';

/** Claude Codes that start at the same moment fight over one settings file. */
const START_GAP_MS = 100;
/** How long Claude Code may stay after its result, unless its timeout is shorter. */
const EXIT_GRACE_MS = 10_000;
const START_LOST =
  'the machine went down, and no trace is left of whether Claude Code had begun; `resume --retry` sends the prompt again';

/** A turn that is being taken. */
interface TakenTurn {
  readonly turn: ClaudeTurn;
  readonly session: SessionUse;
  readonly reading: TurnReading;
  readonly supervision: Omit<Supervision, 'onRunning'>;
}

/** A turn that is ready to begin. */
interface PreparedTurn {
  readonly claude: ClaudeCode;
  readonly state: State;
  readonly prompt: string;
}

/** Answers prompts with Claude Code. */
export class ClaudeBackend implements Backend {
  private readonly context: TurnContext;
  private readonly findClaude: () => Promise<ClaudeCode>;
  /** The folder in which Claude Code keeps its conversations. */
  private readonly configDir: string;
  private readonly prepared = new Map<string, PreparedTurn>();
  private readonly waitForStartSlot = stagger(START_GAP_MS);
  private readonly openTurns: OpenTurns;
  /** The warnings that the author has seen. */
  private readonly warned = new Set<string>();
  private prices: Prices = {};
  private readonly limitBackoff = new LimitBackoff();

  /** `findClaude` throws a RaymondError that says what to do if there is no Claude Code. */
  constructor(context: TurnContext, findClaude: () => Promise<ClaudeCode>) {
    this.context = context;
    this.findClaude = findClaude;
    this.configDir = claudeConfigDir(context.env);
    this.openTurns = new OpenTurns(context, this.configDir, findClaude, this.waitForStartSlot);
  }

  async prepare(turn: ClaudeTurn, state: State): Promise<readonly string[]> {
    const claude = await this.findClaude();
    const { stdin, warnings } = renderPrompt(turn, state.text);
    const meta = JSON.stringify(createTurnMeta(state, this.context.options));
    await this.context.makeFolder(turn, { stdin, [TURN_META_FILE]: meta });
    this.prepared.set(turn.agent, { claude, state, prompt: stdin });
    const newWarnings = warnings.filter((warning) => !this.warned.has(warning));
    for (const warning of newWarnings) this.warned.add(warning);
    return newWarnings;
  }

  sessionFor(turn: ClaudeTurn): string | undefined {
    const { conversations } = this.openTurns;
    const prepared = this.prepared.get(turn.agent);
    if (!turn.isFresh || prepared === undefined || conversations.aheadCount === 0) return undefined;
    const { claude, state } = prepared;
    const request = { context: this.context, claude, turn, session: { kind: 'new', id: '' }, state } as const;
    return conversations.claim(turn.agent, buildClaudeCommand({ ...request, staysOpen: true }).key);
  }

  async take(turn: ClaudeTurn, adopted: boolean): Promise<Answered | Failed> {
    const session = requireSession(turn);
    const meta = await readTurnMeta(this.context, turn);
    const reading = new TurnReading(this.context, turn, adopted);
    const graceMs = Math.min(EXIT_GRACE_MS, meta.timeoutMs ?? EXIT_GRACE_MS);
    const { hopeless, overspent } = reading;
    const grace = { ms: graceMs, isDone: () => reading.isDone };
    const supervision = { timeoutMs: meta.timeoutMs, hopeless, overspent, grace };
    const taken = { turn, session, reading, supervision };
    const ended = await (adopted ? this.adopt(taken) : this.begin(taken));
    const signal = await this.toSignal(taken, ended, describeTimeout(meta));
    return { ...signal, ...reading.prints.signalFields };
  }

  release(run: Run): void {
    this.openTurns.conversations.release(run);
  }

  canReach(agent: string): boolean {
    return this.openTurns.words.canReach(agent);
  }

  say(agent: string, turn: number, words: Words): void {
    this.openTurns.words.say(agent, turn, words);
  }

  interrupt(agent: string): boolean {
    return this.openTurns.words.interrupt(agent);
  }

  close(): Promise<void> {
    return this.openTurns.close();
  }

  private async begin(taken: TakenTurn): Promise<EndedTurnProcess> {
    const { context, prices, openTurns } = this;
    const { turn, session } = taken;
    const prepared = this.prepared.get(turn.agent);
    if (prepared === undefined) throw new Error(`the turn of ${turn.agent} was not prepared`);
    this.prepared.delete(turn.agent);
    const { claude, state, prompt } = prepared;
    if (context.copies !== undefined) await bringSession(context.copies, this.placeOf(turn), session);
    const request = { context, claude, turn, session, state };
    const command = buildClaudeCommand({ ...request, staysOpen: true });
    if (openTurns.isPossible(command)) return openTurns.take({ ...taken, prompt, prices }, command);
    await writeCostBaseline(context.folderOf(turn), this.configDir, turn.cwd, session, prices);
    await this.waitForStartSlot();
    return this.withOwnProcess(taken, (supervision) =>
      runTurn(context, turn, buildClaudeCommand({ ...request, staysOpen: false }), supervision),
    );
  }

  private adopt(taken: TakenTurn): Promise<EndedTurnProcess> {
    const { context, openTurns } = this;
    const claim = openTurns.findClaim(taken.turn);
    if (claim !== null) return openTurns.adopt(taken, claim);
    return this.withOwnProcess(taken, (supervision) => adoptTurn(context, taken.turn, supervision));
  }

  /** Takes a turn in a process of its own. None of its processes may be left when its conversation is used again. */
  private async withOwnProcess(
    { turn, reading, supervision }: TakenTurn,
    follow: (supervision: Supervision) => Promise<ProcessEnd>,
  ): Promise<EndedTurnProcess> {
    const dir = this.context.folderOf(turn);
    let read: Promise<void> = Promise.resolve();
    const onRunning = (until: Promise<unknown>): void => {
      read = followLines(turnFiles(dir).stdout, (line) => reading.add(line), { until });
    };
    const end = await follow({ ...supervision, onRunning });
    await read;
    const isUnclean = end.kind === 'ended' && (end.exit.kind === 'died' || end.exit.code !== 0);
    if (isUnclean) await endTurn(dir, turnMarker(this.context, turn), { graceMs: END_GRACE_MS });
    return { end, outputLost: isOutputLost(dir), settle: async () => {} };
  }

  /** Judges a turn that is over. */
  private async toSignal(
    { turn, session, reading: { transcript } }: TakenTurn,
    { end, outputLost, settle }: EndedTurnProcess,
    timeoutMessage: string,
  ): Promise<Answered | Failed> {
    const { context } = this;
    if (end.kind !== 'ended') {
      const failure = notRunFailure(end, 'invalid_request', START_LOST);
      return failedSignal(turn, end.atMs, mayTakeAgain(context, failure, end) ? { ...failure, kind: 'lost' } : failure);
    }
    const { exit, atMs: at } = end;
    const jitter = Math.random();
    const outcome = judgeClaudeTurn({
      transcript,
      isCompaction: turn.prompt.kind === 'compact',
      endCause: turnEndCause(end),
      exitCode: exit.kind === 'died' || exit.code > 128 ? null : exit.code,
      stderr: await lastLines(turnFiles(context.folderOf(turn)).stderr, 20, 4096),
      timeoutMessage,
      outputLost,
      // Only after a failure it matters, and it takes a look at the conversation.
      resumable: isSuccess(transcript) || (await this.isResumable(turn, transcript.sessionId ?? session.id)),
      endedAtMs: at,
      priorLimits: this.limitBackoff.priorLimits(at),
      jitter,
      costBaseline: readCostBaseline(context, turn),
    });
    await settle(outcome);
    const { sessionId } = transcript;
    if (context.copies !== undefined)
      await storeSession(context.copies, this.placeOf(turn), turn, sessionId ?? session.id);
    const reported = sessionId === null || sessionId === session.id ? {} : { reportedSession: sessionId };
    this.prices = learnPrices(this.prices, modelCosts(transcript));
    if (outcome.kind === 'failed') {
      const { kind, untilMs } = outcome.failure;
      if (kind === 'usage_limit' && untilMs !== undefined) this.limitBackoff.recordLimit(at, untilMs);
      return { ...outcome, ...reported, at, agent: turn.agent, jitter };
    }
    this.limitBackoff.recordSuccess(turn.record?.startedAt ?? 0);
    return answeredSignal(context, turn, at, { ...outcome, ...reported });
  }

  private placeOf({ cwd }: ClaudeTurn): { readonly configDir: string; readonly cwd: string } {
    return { configDir: this.configDir, cwd };
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

/** Whether Claude Code says that it has done what it was told. */
const isSuccess = ({ ownResult, error, limit }: Transcript): boolean =>
  ownResult?.isError === false && error === null && limit === null;

/** A process that was found dead is gone; one that died while we watched has failed. */
function turnEndCause({ exit, endCause, found }: Extract<ProcessEnd, { kind: 'ended' }>): TurnEndCause {
  return found !== null && exit.kind === 'died' && endCause === 'exited' ? 'gone' : endCause;
}
