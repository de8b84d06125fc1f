import type { TurnMessage } from '../../conversations/conversation.ts';
import { ConversationTurns } from '../../conversations/take-turn.ts';
import { isSandboxed } from '../../core/options/sandbox-options.ts';
import type { SessionUse } from '../../core/run/agent.ts';
import type { Run } from '../../core/run/run.ts';
import type { Answered, Failed } from '../../core/signals/signal.ts';
import { choosePreference, type PromptTurn } from '../../core/turns/due.ts';
import type { State } from '../../language/state.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { isOutputLost } from '../../process/full-disk.ts';
import { followLines, lastLines } from '../../process/lines.ts';
import { turnMarker } from '../../process/marker.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { Backend } from '../backend.ts';
import { adoptTurn, mayTakeAgain, notRunFailure, type ProcessEnd, runTurn, type Supervision } from '../process-turn.ts';
import { warnOfRefusedHosts } from '../sandbox/request.ts';
import { answeredSignal, failedSignal } from '../signals.ts';
import type { TurnContext } from '../turn-context.ts';
import { createTurnMeta, describeTimeout, readTurnMeta, TURN_META_FILE } from '../turn-meta.ts';
import { buildClaudeCommand } from './command.ts';
import { type AskedTurn, ENDED_BY_ITSELF } from './connection.ts';
import { learnPrices, type Prices, readCostBaseline, writeCostBaseline } from './cost.ts';
import type { ClaudeCode } from './find-claude.ts';
import { renderPrompt } from './invocation.ts';
import { type ClaudeOutcome, judgeClaudeTurn, type TurnEndCause } from './outcome.ts';
import { ClaudeProtocol } from './protocol.ts';
import { type EndedTurnProcess, NOTHING_LEFT, type ReadTurn } from './recover.ts';
import {
  bringSession,
  claudeConfigDir,
  findSessionFile,
  hasMessages,
  linkSession,
  storeSession,
} from './session-file.ts';
import { modelCosts, type Transcript } from './transcript.ts';
import { TurnReading } from './turn-reading.ts';
import { LimitBackoff } from './usage-limit.ts';

/** How long Claude Code may stay after its result, unless its timeout is shorter. */
const EXIT_GRACE_MS = 10_000;
const START_LOST =
  'the machine went down, and no trace is left of whether Claude Code had begun; `resume --retry` sends the prompt again';

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
  private readonly protocol: ClaudeProtocol;
  private readonly conversations: ConversationTurns<AskedTurn, EndedTurnProcess, ReadTurn>;
  /** The warnings that the author has seen. */
  private readonly warned = new Set<string>();
  private prices: Prices = {};
  private readonly limitBackoff = new LimitBackoff();

  /** `findClaude` throws a RaymondError that says what to do if there is no Claude Code. */
  constructor(context: TurnContext, findClaude: () => Promise<ClaudeCode>) {
    this.context = context;
    this.findClaude = findClaude;
    this.configDir = claudeConfigDir(context.env);
    this.protocol = new ClaudeProtocol(context, this.configDir, findClaude);
    this.conversations = new ConversationTurns(context, this.protocol, (lastTurn) =>
      context.warn(lastTurn, ENDED_BY_ITSELF),
    );
  }

  async prepare(turn: PromptTurn, state: State): Promise<readonly string[]> {
    // What runs in a sandbox may start programs that a turn has named.
    if (isSandboxed(this.context.options, state)) await this.context.sandboxes?.check(turn.cwd, turn.agent);
    else await this.context.checkSettings?.(turn);
    const claude = await this.findClaude();
    const { stdin, warnings } = renderPrompt(turn, state.text);
    const { options } = this.context;
    const namesModel = choosePreference(turn.preference, state, options).model !== null;
    const meta = { ...createTurnMeta(state, options), namesModel };
    await this.context.makeFolder(turn, { stdin, [TURN_META_FILE]: JSON.stringify(meta) });
    this.prepared.set(turn.agent, { claude, state, prompt: stdin });
    const newWarnings = warnings.filter((warning) => !this.warned.has(warning));
    for (const warning of newWarnings) this.warned.add(warning);
    return newWarnings;
  }

  sessionFor(turn: PromptTurn): string | undefined {
    const { pool } = this.conversations;
    const prepared = this.prepared.get(turn.agent);
    if (!turn.isFresh || prepared === undefined || pool.earlyCount === 0) return undefined;
    const { claude, state } = prepared;
    const request = { context: this.context, claude, turn, session: { kind: 'new', id: '' }, state } as const;
    const { key } = buildClaudeCommand({ ...request, staysOpen: true });
    return pool.reserve(turn, key)?.session ?? undefined;
  }

  async take(turn: PromptTurn, adopted: boolean): Promise<Answered | Failed> {
    const session = requireSession(turn);
    const meta = await readTurnMeta(this.context, turn);
    const reading = new TurnReading(this.context, turn, adopted);
    const graceMs = Math.min(EXIT_GRACE_MS, meta.timeoutMs ?? EXIT_GRACE_MS);
    const { hopeless, overspent } = reading;
    const grace = { ms: graceMs, isDone: () => reading.isDone };
    const supervision = { timeoutMs: meta.timeoutMs, hopeless, overspent, grace };
    const taken = { turn, session, reading, supervision };
    const ended = await (adopted ? this.adopt(taken) : this.begin(taken));
    warnOfRefusedHosts(this.context, turn);
    const signal = await this.toSignal(taken, ended, describeTimeout(meta));
    const { model } = reading.transcript;
    const reported = model !== null && meta.namesModel === false ? { model } : {};
    return { ...signal, ...reported, ...reading.prints.signalFields };
  }

  release(run: Run): void {
    this.conversations.pool.release(run);
  }

  canReach(agent: string): boolean {
    return this.conversations.messages.canReach(agent);
  }

  say(agent: string, turn: number, message: TurnMessage): void {
    this.conversations.messages.say(agent, turn, message);
  }

  interrupt(agent: string): boolean {
    return this.conversations.messages.interrupt(agent);
  }

  close(): Promise<void> {
    return this.conversations.close();
  }

  private async begin(taken: ReadTurn): Promise<EndedTurnProcess> {
    const { context, prices, protocol } = this;
    const { turn, session } = taken;
    const prepared = this.prepared.get(turn.agent);
    if (prepared === undefined) throw new Error(`the turn of ${turn.agent} was not prepared`);
    this.prepared.delete(turn.agent);
    const { claude, state, prompt } = prepared;
    if (context.copies !== undefined) await bringSession(context.copies, this.placeOf(turn), session);
    const request = { context, claude, turn, session, state };
    const command = buildClaudeCommand({ ...request, staysOpen: true });
    if (protocol.canStayOpen(command)) return this.converse({ ...taken, command, prompt, prices });
    await writeCostBaseline(context.folderOf(turn), this.configDir, turn.cwd, session, prices);
    await protocol.waitForStartSlot();
    return this.withOwnProcess(taken, (supervision) =>
      runTurn(context, turn, buildClaudeCommand({ ...request, staysOpen: false }), supervision),
    );
  }

  /** Takes a turn in a process that stays open. */
  private async converse(asked: AskedTurn): Promise<EndedTurnProcess> {
    const taken = await this.conversations.take(asked);
    if (taken.kind === 'not_started') return { ...NOTHING_LEFT, end: { ...taken, atMs: this.context.clock.now() } };
    if (taken.kind === 'missed') return taken.over;
    const { over, settle } = taken;
    const finish = async (outcome: ClaudeOutcome): Promise<boolean> => {
      const canContinue = await over.finish(outcome);
      await settle(canContinue);
      return canContinue;
    };
    return { ...over, finish };
  }

  private adopt(taken: ReadTurn): Promise<EndedTurnProcess> {
    return (
      this.conversations.recover(taken) ??
      this.withOwnProcess(taken, (supervision) => adoptTurn(this.context, taken.turn, supervision))
    );
  }

  /** Takes a turn in a process of its own. None of its processes may be left when its conversation is used again. */
  private async withOwnProcess(
    { turn, reading, supervision }: ReadTurn,
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
    return { ...NOTHING_LEFT, end, outputLost: isOutputLost(dir) };
  }

  /** Judges a turn that is over. */
  private async toSignal(
    { turn, session, reading: { transcript } }: ReadTurn,
    { end, outputLost, finish }: EndedTurnProcess,
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
    await finish(outcome);
    const { sessionId } = transcript;
    if (context.copies !== undefined)
      await storeSession(context.copies, this.placeOf(turn), turn, sessionId ?? session.id);
    const used = sessionId ?? session.id;
    const reported = used === session.id ? {} : { reportedSession: used };
    const message = transcript.lastUuid === null ? {} : { message: transcript.lastUuid };
    if (context.sessionLinks !== undefined) await linkSession(this.placeOf(turn), used, context.sessionLinks);
    this.prices = learnPrices(this.prices, modelCosts(transcript));
    if (outcome.kind === 'failed') {
      const { kind, untilMs } = outcome.failure;
      if (kind === 'usage_limit' && untilMs !== undefined) this.limitBackoff.recordLimit(at, untilMs);
      return { ...outcome, ...reported, ...message, at, agent: turn.agent, jitter };
    }
    this.limitBackoff.recordSuccess(turn.record?.startedAt ?? 0);
    return { ...(await answeredSignal(context, turn, at, { ...outcome, ...reported })), ...message };
  }

  private placeOf({ cwd }: PromptTurn): { readonly configDir: string; readonly cwd: string } {
    return { configDir: this.configDir, cwd };
  }

  private async isResumable(turn: PromptTurn, sessionId: string): Promise<boolean> {
    const file = await findSessionFile(this.configDir, turn.cwd, sessionId);
    return file !== null && hasMessages(file);
  }
}

function requireSession({ agent, record }: PromptTurn): SessionUse {
  if (record?.session == null) throw new Error(`the turn of ${agent} has no session on record`);
  return record.session;
}

/** True if Claude Code says that it has done what it was told. */
const isSuccess = ({ ownResult, error, limit }: Transcript): boolean =>
  ownResult?.isError === false && error === null && limit === null;

/** A process that was found dead is gone; one that died while we watched has failed. */
function turnEndCause({ exit, endCause, found }: Extract<ProcessEnd, { kind: 'ended' }>): TurnEndCause {
  return found !== null && exit.kind === 'died' && endCause === 'exited' ? 'gone' : endCause;
}
