import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import type { NotStarted } from '../../process/command.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { isOutputLost } from '../../process/full-disk.ts';
import { followLines, lastLines, lastWriteTimeMs, readLines } from '../../process/lines.ts';
import { toNotStarted } from '../../process/start.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { hasClaudeDefaults } from '../environment.ts';
import { adoptTurn, type ProcessEnd, type Supervision, superviseProcess } from '../process-turn.ts';
import type { TurnContext } from '../turn-context.ts';
import type { ClaudeCommand } from './command.ts';
import { Conversation, conversationPlace } from './conversation.ts';
import { Conversations } from './conversations.ts';
import { readCostBaseline, reportedCosts, saveCostBaseline, writeCostBaseline } from './cost.ts';
import { promptLine } from './invocation.ts';
import type { ClaudeOutcome } from './outcome.ts';
import type { Prices } from './prices.ts';
import { findSessionFile, hasPrompt } from './session-file.ts';
import { readTurnClaim, type TurnClaim, TurnSlice, writeTurnClaim } from './turn-claim.ts';
import type { TurnReading } from './turn-reading.ts';
import { TurnWords } from './turn-words.ts';

/** A turn in a conversation that stays open. */
interface OpenTurn {
  readonly turn: ClaudeTurn;
  readonly session: SessionUse;
  readonly reading: TurnReading;
  readonly supervision: Omit<Supervision, 'onRunning'>;
}

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
  private isRefused = false;
  readonly words: TurnWords;

  constructor(context: TurnContext, configDir: string, waitForStartSlot: () => Promise<void>) {
    this.context = context;
    this.configDir = configDir;
    this.waitForStartSlot = waitForStartSlot;
    this.conversations = new Conversations(context);
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
    const open = session.kind === 'resume' ? conversations.take(session.id, command.key, budgetMicros) : null;
    if (open !== null) {
      if (budgetMicros !== null && (open.restMicros ?? 0) > budgetMicros) reading.limitCost(budgetMicros, prices);
      const uuid = randomUUID();
      try {
        saveCostBaseline(dir, { savedUsd: null, prices, ...(open.reported && { before: open.reported }) });
        writeTurnClaim(dir, { opener: open.opener.number, ...open.outputAt, uuid });
      } catch (error) {
        await conversations.discard(open);
        return this.neverBegan(toNotStarted(command, error));
      }
      return this.ask(asked, open, uuid);
    }
    // The original of a branch must not change while Claude Code reads it, nor what it says of its cost.
    const letGo = session.kind === 'fork' ? await conversations.hold(session.from) : null;
    try {
      if (session.kind === 'resume') await conversations.makeFree(session.id);
      await writeCostBaseline(dir, this.configDir, turn.cwd, session, prices);
      await this.waitForStartSlot();
      const uuid = randomUUID();
      const opened = await this.open(turn, command, session.id, uuid);
      return opened instanceof Conversation ? await this.ask(asked, opened, uuid) : this.neverBegan(opened);
    } finally {
      letGo?.();
    }
  }

  /** Starts a process for a conversation, once the turn's folder says where it is. */
  private async open(
    turn: ClaudeTurn,
    command: ClaudeCommand,
    session: string,
    uuid: string,
  ): Promise<Conversation | NotStarted> {
    try {
      const terms = { session, key: command.key, capMicros: turn.budgetMicros };
      const opened = new Conversation(this.context, turn, terms);
      writeTurnClaim(this.context.folderOf(turn), { opener: turn.number, ...opened.outputAt, uuid });
      const notStarted = await opened.start(command);
      if (notStarted !== null) return notStarted;
      this.conversations.add(opened);
      return opened;
    } catch (error) {
      return toNotStarted(command, error);
    }
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
    const place = conversationPlace(context, { agent: turn.agent, number: claim.opener });
    for (const { id } of turn.words) reading.expectEcho(id);
    if (!existsSync(place.dir)) return this.readSlice(found);
    if (turn.budgetMicros !== null && claim.opener !== turn.number)
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
    await this.findWords(found);
    // Without an input Claude Code just ends; an exit code tells of a failure to open the conversation.
    const mayHaveMissedIt = claim.opener !== turn.number || (end.kind === 'ended' && isCleanExit(end));
    const isMissed = mayHaveMissedIt && end.kind === 'ended' && !(await this.isTaken(found, claim.uuid));
    const settle = async (): Promise<void> => {
      if (end.kind === 'ended' && !isCleanExit(end)) await endTurn(place.dir, place.marker, { graceMs: END_GRACE_MS });
    };
    if (isMissed) await settle();
    const seen: ProcessEnd = isMissed ? { kind: 'never_started', atMs: end.atMs } : end;
    return { end: seen, outputLost: isOutputLost(place.dir), settle };
  }

  /**
   * Reads a turn whose conversation is closed and removed, which happens only after the end of the turn was on disk: the
   * journal has lost that, but the turn's own folder has its output.
   */
  private async readSlice({ turn, reading }: OpenTurn): Promise<EndedTurnProcess> {
    const { stdout, started } = turnFiles(this.context.folderOf(turn));
    for await (const line of readLines(stdout)) reading.add(line);
    const atMs = this.context.clock.fromFileTime(Math.round(await lastWriteTimeMs([started, stdout])));
    const end: ProcessEnd = {
      kind: 'ended',
      exit: { kind: 'exited', code: 0 },
      endCause: 'exited',
      found: 'over',
      atMs,
    };
    return { end, outputLost: false, settle: async () => {} };
  }

  private async ask(asked: NewOpenTurn, conversation: Conversation, uuid: string): Promise<EndedTurnProcess> {
    const { turn, prompt, reading, supervision } = asked;
    const { place } = conversation;
    const slice = new TurnSlice(this.context.folderOf(turn));
    const stderrFrom = conversation.outputAt.stderr;
    const over = conversation.ask(turn, promptLine(uuid, prompt), (line) => {
      slice.add(line);
      reading.add(line);
      return reading.isDone;
    });
    this.words.connect(turn.agent, conversation);
    const grace = { ms: STALL_MS, isDone: () => reading.isStalled };
    const end = await superviseProcess(this.context, turn, place, over, { ...supervision, grace, onRunning: () => {} });
    slice.close(place.dir, stderrFrom);
    await this.findWords(asked);
    const outputLost = isOutputLost(place.dir);
    if (end.kind === 'ended' && !(await this.wasMissed(asked, conversation, uuid, end)))
      return { end, outputLost, settle: (outcome) => this.settle(asked, conversation, outcome) };
    await this.conversations.discard(conversation);
    return notBegun(end.kind === 'ended' ? { kind: 'never_started', atMs: end.atMs } : end);
  }

  /** Whether a process has ended before it took the prompt: then the prompt is sent again, to a new one. */
  private async wasMissed(
    asked: NewOpenTurn,
    { opener }: Conversation,
    uuid: string,
    { endCause }: Extract<ProcessEnd, { kind: 'ended' }>,
  ): Promise<boolean> {
    const { turn, reading } = asked;
    if (reading.isDone || endCause !== 'exited') return false;
    if (opener.number !== turn.number) return !(await this.isTaken(asked, uuid));
    const stderr = await lastLines(turnFiles(this.context.folderOf(turn)).stderr, 20, 4096);
    if (!UNKNOWN_OPTION.test(stderr)) return false;
    this.isRefused = true;
    this.context.warn(turn, REFUSED);
    return true;
  }

  /** Looks in the conversation for what was written into a turn and not been echoed: its process may have ended in between. */
  private async findWords({ turn, session, reading }: OpenTurn): Promise<void> {
    const { unheardIds } = reading;
    if (unheardIds.length === 0) return;
    const file = await findSessionFile(this.configDir, turn.cwd, session.id);
    if (file === null) return;
    for (const id of unheardIds) if (await hasPrompt(file, id)) this.context.hear(turn, id);
  }

  /** Whether Claude Code has taken a prompt: it says so when it begins, and writes it into the conversation. */
  private async isTaken({ turn, session, reading }: OpenTurn, uuid: string): Promise<boolean> {
    const { opened, ownResult } = reading.transcript;
    if (opened || ownResult !== null) return true;
    const file = await findSessionFile(this.configDir, turn.cwd, session.id);
    return file !== null && hasPrompt(file, uuid);
  }

  /** Keeps the conversation open after an answer, if nothing is odd about it. */
  private async settle(asked: NewOpenTurn, conversation: Conversation, outcome: ClaudeOutcome): Promise<void> {
    const { transcript } = asked.reading;
    const reported = reportedCosts(transcript);
    const isUsual =
      outcome.kind === 'answered' &&
      outcome.cost.kind === 'reported' &&
      transcript.garbage === 0 &&
      transcript.sessionId === conversation.terms.session &&
      conversation.flaw === null;
    if (outcome.kind === 'answered' && conversation.hasEnded) this.conversations.warnOfEnd(conversation);
    if (!isUsual || reported === null) return this.conversations.discard(conversation);
    conversation.reported = reported;
    conversation.spentMicros += outcome.cost.micros;
    this.conversations.keep(conversation);
  }
}

/** How long Claude Code may be silent after a result if something was written that it has not taken up. */
const STALL_MS = 10_000;

const notBegun = (end: ProcessEnd): EndedTurnProcess => ({ end, outputLost: false, settle: async () => {} });

const isCleanExit = ({ exit }: Extract<ProcessEnd, { kind: 'ended' }>): boolean =>
  exit.kind === 'exited' && exit.code === 0;
