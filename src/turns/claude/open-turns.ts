import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import type { NotStarted } from '../../process/command.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { isOutputLost } from '../../process/full-disk.ts';
import { followLines, lastLines } from '../../process/lines.ts';
import { toNotStarted } from '../../process/start.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { hasClaudeDefaults } from '../environment.ts';
import { adoptTurn, type ProcessEnd, superviseProcess } from '../process-turn.ts';
import type { TurnContext } from '../turn-context.ts';
import { AheadStarts } from './ahead-starts.ts';
import type { ClaudeCommand } from './command.ts';
import { Conversation, claimedPlace } from './conversation.ts';
import { Conversations } from './conversations.ts';
import { readCostBaseline, reportedCosts, saveCostBaseline, writeCostBaseline } from './cost.ts';
import type { ClaudeCode } from './find-claude.ts';
import { promptLine } from './invocation.ts';
import { findWords, type OpenTurn, readSlice, wasTaken } from './open-turn-traces.ts';
import type { ClaudeOutcome } from './outcome.ts';
import type { Prices } from './prices.ts';
import { readTurnClaim, type TurnClaim, TurnSlice, writeTurnClaim } from './turn-claim.ts';
import { TurnWords } from './turn-words.ts';

/** A turn that begins. */
interface NewOpenTurn extends OpenTurn {
  readonly prompt: string;
  readonly prices: Prices;
}

/** A turn that is over: how its process ended, if it did, and what is to be done with it once the outcome is known. */
export interface EndedTurnProcess {
  readonly end: ProcessEnd;
  /** Whether a full disk kept part of its output from being written. */
  readonly outputLost: boolean;
  readonly settle: (outcome: ClaudeOutcome) => Promise<void>;
}

/** What Claude Code says about an option that it does not know. */
const UNKNOWN_OPTION = /unknown option '?--(?:input-format|replay-user-messages)/i;
const REFUSED =
  'this Claude Code cannot stay open between two prompts, so that it is started for each; `--keep-open 0` asks for that';

/** Takes turns in processes of Claude Code that stay open from one turn of a conversation to the next. */
export class OpenTurns {
  readonly conversations: Conversations;
  private readonly context: TurnContext;
  private readonly configDir: string;
  private readonly waitForStartSlot: () => Promise<void>;
  private readonly ahead: AheadStarts;
  private isRefused = false;
  readonly words: TurnWords;

  constructor(
    context: TurnContext,
    configDir: string,
    findClaude: () => Promise<ClaudeCode>,
    waitForStartSlot: () => Promise<void>,
  ) {
    this.context = context;
    this.configDir = configDir;
    this.waitForStartSlot = waitForStartSlot;
    this.conversations = new Conversations(context);
    const isPossible = (command: ClaudeCommand): boolean => this.isPossible(command);
    this.ahead = new AheadStarts({
      context,
      configDir,
      findClaude,
      waitForStartSlot,
      isPossible,
      conversations: this.conversations,
    });
    this.words = new TurnWords((agent) => context.endings.end(agent));
  }

  /** Whether a turn with this command can be taken so. With other settings Claude Code may go on by itself after its answer. */
  isPossible({ env }: ClaudeCommand): boolean {
    const { keepOpenMs } = this.context.options;
    return (keepOpenMs ?? 0) > 0 && process.platform !== 'win32' && !this.isRefused && hasClaudeDefaults(env);
  }

  /** Takes a turn: in the process that is open for its conversation, if that fits, else in a new one. */
  async take(asked: NewOpenTurn, command: ClaudeCommand): Promise<EndedTurnProcess> {
    return this.words.during(asked.turn, asked.reading, () => this.begin(asked, command));
  }

  private async begin(asked: NewOpenTurn, command: ClaudeCommand): Promise<EndedTurnProcess> {
    const { turn, session, prices, reading } = asked;
    const { conversations } = this;
    const dir = this.context.folderOf(turn);
    const { budgetMicros } = turn;
    const open = await this.takeOpen(session, command, budgetMicros);
    if (open !== null) {
      if (budgetMicros !== null && (open.restMicros ?? 0) > budgetMicros) reading.limitCost(budgetMicros, prices);
      const uuid = randomUUID();
      try {
        saveCostBaseline(dir, { savedUsd: null, prices, ...(open.reported && { before: open.reported }) });
        writeTurnClaim(dir, open.claimFor(uuid));
      } catch (error) {
        await conversations.discard(open);
        return this.neverBegan(toNotStarted(command, error));
      }
      return this.ask(asked, open, uuid);
    }
    // The original of a branch must not change while Claude Code reads it, nor what it says of its cost.
    const letGo = session.kind === 'fork' ? await conversations.hold(session.from) : null;
    try {
      if (session.kind !== 'fork') await conversations.makeFree(session.id);
      await writeCostBaseline(dir, this.configDir, turn.cwd, session, prices);
      await this.waitForStartSlot();
      const uuid = randomUUID();
      const opened = await this.open(turn, command, session.id, uuid);
      return opened instanceof Conversation ? await this.ask(asked, opened, uuid) : this.neverBegan(opened);
    } finally {
      letGo?.();
    }
  }

  /** Takes the process that is open for a conversation, or was started ahead for a new one; null if there is none that fits. */
  private async takeOpen(
    session: SessionUse,
    command: ClaudeCommand,
    capMicros: number | null,
  ): Promise<Conversation | null> {
    if (session.kind === 'fork') return null;
    if (session.kind === 'new') return this.ahead.take(session.id, command, capMicros);
    return this.conversations.take(session.id, command.key, capMicros);
  }

  /** Ends all processes between two turns; those that are at a turn finish it. */
  async close(): Promise<void> {
    await this.ahead.stop();
    await this.conversations.closeAll();
  }

  /** Starts a process for a conversation, once the turn's folder says where it is. */
  private async open(
    turn: ClaudeTurn,
    command: ClaudeCommand,
    session: string,
    uuid: string,
  ): Promise<Conversation | NotStarted> {
    let opened: Conversation;
    try {
      const terms = { session, key: command.key, capMicros: turn.budgetMicros };
      opened = new Conversation(this.context, turn, terms);
      writeTurnClaim(this.context.folderOf(turn), opened.claimFor(uuid));
    } catch (error) {
      return toNotStarted(command, error);
    }
    const notStarted = await opened.start(command);
    if (notStarted !== null) return notStarted;
    this.conversations.add(opened);
    return opened;
  }

  private neverBegan(why: NotStarted): EndedTurnProcess {
    return notBegun({ ...why, atMs: this.context.clock.now() });
  }

  /** The claim of a turn that an earlier process of Raymond has begun; null if it was not begun in such a conversation. */
  findClaim(turn: ClaudeTurn): TurnClaim | null {
    return readTurnClaim(this.context.folderOf(turn));
  }

  /** Looks for such a turn. Its process has seen the end of its input, so it ends with the turn. */
  async adopt(found: OpenTurn, claim: TurnClaim): Promise<EndedTurnProcess> {
    const { turn, reading, supervision } = found;
    const { context } = this;
    const place = claimedPlace(context, turn.agent, claim);
    const isOpener = claim.ahead === undefined && claim.opener === turn.number;
    for (const { id } of turn.words) reading.expectEcho(id);
    if (!existsSync(place.dir))
      return { end: await readSlice(context, found), outputLost: false, settle: async () => {} };
    if (turn.budgetMicros !== null && !isOpener)
      reading.limitCost(turn.budgetMicros, readCostBaseline(context, turn).prices);
    const slice = new TurnSlice(context.folderOf(turn));
    let read: Promise<void> = Promise.resolve();
    const onRunning = (until: Promise<unknown>): void => {
      const onLine = (line: Buffer): void => {
        slice.add(line);
        reading.add(line);
      };
      read = followLines(turnFiles(place.dir).stdout, onLine, { until, from: claim.stdout });
    };
    const end = await adoptTurn(context, turn, { ...supervision, onRunning }, place);
    await read;
    slice.close(place.dir, claim.stderr);
    await findWords(this.context, this.configDir, found);
    // Without an input Claude Code just ends; an exit code tells of a failure to open the conversation.
    const mayHaveMissedIt = !isOpener || (end.kind === 'ended' && isCleanExit(end));
    const isMissed = mayHaveMissedIt && end.kind === 'ended' && !(await wasTaken(this.configDir, found, claim.uuid));
    const settle = async (): Promise<void> => {
      if (end.kind === 'ended' && !isCleanExit(end)) await endTurn(place.dir, place.marker, { graceMs: END_GRACE_MS });
    };
    if (isMissed) await settle();
    const seen: ProcessEnd = isMissed ? { kind: 'never_started', atMs: end.atMs } : end;
    return { end: seen, outputLost: isOutputLost(place.dir), settle };
  }

  private async ask(asked: NewOpenTurn, conversation: Conversation, uuid: string): Promise<EndedTurnProcess> {
    const { turn, prompt, reading, supervision } = asked;
    const { place } = conversation;
    const slice = new TurnSlice(this.context.folderOf(turn));
    const stderrFrom = conversation.outputAt.stderr;
    let isTaken = false;
    const over = conversation.ask(turn, promptLine(uuid, prompt), (line) => {
      slice.add(line);
      reading.add(line);
      if (!isTaken && reading.transcript.opened) {
        isTaken = true;
        this.startAhead(asked);
      }
      return reading.isDone;
    });
    this.words.connect(turn.agent, conversation);
    const grace = { ms: Math.min(STALL_MS, supervision.timeoutMs ?? STALL_MS), isDone: () => reading.isStalled };
    const end = await superviseProcess(this.context, turn, place, over, { ...supervision, grace, onRunning: () => {} });
    slice.close(place.dir, stderrFrom);
    await findWords(this.context, this.configDir, asked);
    const outputLost = isOutputLost(place.dir);
    if (end.kind === 'ended' && !(await this.wasMissed(asked, conversation, uuid, end)))
      return {
        end,
        outputLost,
        settle: (outcome) => this.settle(asked, conversation, outcome, end.endCause === 'hung'),
      };
    await this.conversations.discard(conversation);
    return notBegun(end.kind === 'ended' ? { kind: 'never_started', atMs: end.atMs } : end);
  }

  /** Once a turn is under way, its successor may be started; not if that runs hooks of the user, which say what they see then. */
  private startAhead({ turn, reading }: NewOpenTurn): void {
    if (reading.hasHooks) this.ahead.stop();
    else if (this.context.isGuest !== true) this.ahead.consider(turn);
  }

  /** Whether a process has ended before it took the prompt: then the prompt is sent again, to a new one. */
  private async wasMissed(
    asked: NewOpenTurn,
    conversation: Conversation,
    uuid: string,
    { endCause }: Extract<ProcessEnd, { kind: 'ended' }>,
  ): Promise<boolean> {
    const { turn, reading } = asked;
    if (reading.isDone || endCause !== 'exited') return false;
    if (!conversation.isOpenedBy(turn)) return !(await wasTaken(this.configDir, asked, uuid));
    const stderr = await lastLines(turnFiles(this.context.folderOf(turn)).stderr, 20, 4096);
    if (!UNKNOWN_OPTION.test(stderr)) return false;
    this.isRefused = true;
    this.context.warn(turn, REFUSED);
    return true;
  }

  /** Keeps the conversation open after an answer or an interruption, if nothing is odd about it. */
  private async settle(
    asked: NewOpenTurn,
    conversation: Conversation,
    outcome: ClaudeOutcome,
    isStalled: boolean,
  ): Promise<void> {
    const { transcript } = asked.reading;
    const reported = reportedCosts(transcript);
    const isOver = outcome.kind === 'answered' || (conversation.wasInterrupted && asked.reading.isDone);
    const isUsual =
      isOver &&
      !conversation.isInterrupting &&
      outcome.cost.kind === 'reported' &&
      transcript.garbage === 0 &&
      transcript.sessionId === conversation.terms.session &&
      conversation.flaw === null;
    if (outcome.kind === 'answered' && conversation.hasEnded) this.conversations.warnOfEnd(conversation, isStalled);
    if (!isUsual || reported === null) return this.conversations.discard(conversation);
    conversation.reported = reported;
    conversation.spentMicros += outcome.cost.micros;
    this.conversations.keep(conversation);
  }
}

/** How long Claude Code may be silent after a result if something was written that it has not taken up, unless its timeout is shorter. */
const STALL_MS = 10_000;

const notBegun = (end: ProcessEnd): EndedTurnProcess => ({ end, outputLost: false, settle: async () => {} });

const isCleanExit = ({ exit }: Extract<ProcessEnd, { kind: 'ended' }>): boolean =>
  exit.kind === 'exited' && exit.code === 0;
