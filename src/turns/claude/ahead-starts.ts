import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { recordedTurn } from '../../core/agent.ts';
import { indexOfAgent } from '../../core/agent-index.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import { hasOpenState } from '../../core/policy.ts';
import { formatPolicyTag } from '../../core/reminder.ts';
import type { Run } from '../../core/run.ts';
import { freshTurnAfter } from '../../core/turns-ahead.ts';
import { answeredSignal } from '../signals.ts';
import type { TurnContext } from '../turn-context.ts';
import { buildClaudeCommand, type ClaudeCommand } from './command.ts';
import { Conversation, conversationPlace } from './conversation.ts';
import type { Conversations } from './conversations.ts';
import type { ClaudeCode } from './find-claude.ts';
import { hasLocalMcpServers } from './mcp-servers.ts';
import { hasSessionHooks } from './session-hooks.ts';
import { readStartSnapshot } from './start-snapshot.ts';

/** What starts ahead need of the turns around them. */
interface AheadRequest {
  readonly context: TurnContext;
  readonly conversations: Conversations;
  /** The folder in which Claude Code keeps its settings. */
  readonly configDir: string;
  readonly findClaude: () => Promise<ClaudeCode>;
  readonly waitForStartSlot: () => Promise<void>;
  /** Whether a process with this command can stay open. */
  readonly isPossible: (command: ClaudeCommand) => boolean;
}

/** So many starts in vain are enough to do without them. */
const MAX_MISSES = 3;

/** A turn that is certain to come, and the command that Claude Code is started with for it. */
interface NextTurn {
  readonly turn: ClaudeTurn;
  readonly command: ClaudeCommand;
  readonly session: string;
}

/**
 * Starts Claude Code ahead of a turn in a new conversation, while the turn before it runs: if whatever that may answer leads to
 * a start with the same command. The process waits for a prompt and sends nothing to the model before it gets one.
 */
export class AheadStarts {
  private readonly request: AheadRequest;
  private readonly starting = new Set<Promise<void>>();
  /** By state, how many processes in a row were started ahead during its turns and not used. */
  private readonly misses = new Map<string, number>();
  private readonly snapshots = new WeakMap<Conversation, string>();
  private isOver = false;

  constructor(request: AheadRequest) {
    this.request = request;
    request.conversations.onUnused = ({ opener: { state } }) => this.misses.set(state, this.missesOf(state) + 1);
  }

  /** Starts a process ahead of what comes after a running turn, if that is certain and there is room. Nobody waits for it. */
  consider(turn: ClaudeTurn): void {
    const { policy, state, evaluates, prompt } = turn;
    if (this.isOver || policy.length === 0 || policy.some(hasOpenState)) return;
    if (this.missesOf(state) >= MAX_MISSES || evaluates !== null || prompt.kind === 'compact') return;
    if (!this.request.conversations.hasRoomFor(this.starting.size + 1)) return;
    // Whatever goes wrong here, the turn that comes will tell.
    const started = this.start(turn).catch(() => {});
    this.starting.add(started);
    started.finally(() => this.starting.delete(started));
  }

  /** Takes the process that waits for a turn; null if there is none, or if the project is not as it was when it started. */
  async take(
    session: string,
    { key, cwd, env }: ClaudeCommand,
    capMicros: number | null,
  ): Promise<Conversation | null> {
    const { conversations } = this.request;
    const found = conversations.take(session, key, capMicros);
    if (found === null) return null;
    const snapshot = this.snapshots.get(found);
    const { state } = found.opener;
    if (snapshot !== undefined && snapshot === (await this.readSnapshot(cwd, env))) {
      this.misses.delete(state);
      return found;
    }
    // Its turns change the project, and will again.
    this.misses.set(state, MAX_MISSES);
    await conversations.discard(found);
    return null;
  }

  /** Starts nothing more, because each start does something that it should not do twice, or because the run is over. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.starting);
  }

  private missesOf(state: string): number {
    return this.misses.get(state) ?? 0;
  }

  private async start(turn: ClaudeTurn): Promise<void> {
    const { context, conversations, waitForStartSlot, isPossible } = this.request;
    const next = await this.findNext(turn);
    if (next === null || !isPossible(next.command)) return;
    const { command, session } = next;
    const { configDir } = this.request;
    // They would run in vain, or before the turn that they are for; servers, beside those of the turn that runs.
    if (hasSessionHooks(command.cwd, configDir) || (await hasLocalMcpServers(command.cwd, configDir))) return;
    const { dir } = conversationPlace(context, { agent: turn.agent, number: turn.number, isAhead: true });
    if (existsSync(dir)) return;
    for (const folder of [next.turn.taskFolder, next.turn.runFolder])
      if (folder !== null) await context.makeWorkFolder(folder);
    const snapshot = await this.readSnapshot(command.cwd, command.env);
    await waitForStartSlot();
    if (snapshot === null || this.runOf(turn) === undefined || this.isOver) return;
    const terms = { session, key: command.key, capMicros: next.turn.budgetMicros };
    const conversation = new Conversation(context, turn, terms, true);
    if ((await conversation.start(command)) !== null) return conversations.discard(conversation);
    this.snapshots.set(conversation, snapshot);
    conversations.keep(conversation);
  }

  /** The turn after this one, if every transition that its policy permits leads to a start with the same command. */
  private async findNext(turn: ClaudeTurn): Promise<NextTurn | null> {
    const { context } = this.request;
    const session = randomUUID();
    let found: NextTurn | null = null;
    for (const entry of turn.policy) {
      const answer = { text: formatPolicyTag(entry), cost: null, denials: [] };
      const answered = await answeredSignal(context, { ...turn, stuck: null }, context.clock.now(), answer);
      const run = this.runOf(turn);
      const next = run && freshTurnAfter(run, answered);
      if (next === undefined) return null;
      const state = await context.readState(next.state);
      const claude = await this.request.findClaude();
      const use = { kind: 'new', id: session } as const;
      const command = buildClaudeCommand({ context, claude, turn: next, session: use, state, staysOpen: true });
      if (found !== null && found.command.key !== command.key) return null;
      found ??= { turn: next, command, session };
    }
    return found;
  }

  /** The run as it is on disk, as long as a turn is under way in it. */
  private runOf({ agent: id, number }: ClaudeTurn): Run | undefined {
    const run = this.request.conversations.savedRun;
    const agent = run?.agents[indexOfAgent(run.agents, id)];
    if (run === undefined || agent === undefined || run.stop !== null) return undefined;
    return recordedTurn(agent.phase)?.number === number ? run : undefined;
  }

  private readSnapshot(cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
    const { configDir, context } = this.request;
    return readStartSnapshot(cwd, env, configDir, context.clock.now());
  }
}
