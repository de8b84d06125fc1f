import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { recordedTurn } from '../core/run/agent.ts';
import { indexOfAgent } from '../core/run/agent-index.ts';
import type { Run } from '../core/run/run.ts';
import type { PromptTurn } from '../core/turns/due.ts';
import { freshTurnAfter } from '../core/turns/next-turns.ts';
import { hasOpenState } from '../language/policy.ts';
import { formatPolicyTag } from '../language/reminder.ts';
import type { Pool, Pooled } from './pool.ts';
import type { Connection, ConversationProtocol, PlannedTurn } from './protocol.ts';
import { type ConversationFolders, conversationRef } from './records.ts';

/** Everything that early starts need of their run. */
export interface EarlyStartContext extends ConversationFolders {
  /** Makes a folder in which an agent can work, unless it is there. */
  makeWorkFolder(path: string): Promise<void>;
}

type EarlyProtocol<Asked extends PlannedTurn, Over> = Pick<
  ConversationProtocol<Asked, Over, never>,
  'choosesSession' | 'early'
>;

/** Unused early starts before giving up. */
const MAX_MISSES = 3;

/**
 * Starts the process of a turn that opens a session early, while the turn before it runs: if whatever that may answer leads to a
 * start with the same command. The process waits for a prompt and sends nothing to the model before it gets one.
 */
export class EarlyStarts<Asked extends PlannedTurn, Over> {
  private readonly context: EarlyStartContext;
  private readonly protocol: EarlyProtocol<Asked, Over>;
  private readonly pool: Pool<Connection<Asked, Over>>;
  private readonly starting = new Set<Promise<void>>();
  /** By state, how many processes in a row were started early during its turns and not used. */
  private readonly misses = new Map<string, number>();
  private isOver = false;

  constructor(context: EarlyStartContext, protocol: EarlyProtocol<Asked, Over>, pool: Pool<Connection<Asked, Over>>) {
    this.context = context;
    this.protocol = protocol;
    this.pool = pool;
  }

  /** Counts a process that was started during a turn of this state, and not used. */
  countMiss(state: string): void {
    this.misses.set(state, this.missesOf(state) + 1);
  }

  /** Starts the process of the turn after a running one, if that is certain and there is room. Nobody waits for it. */
  consider(turn: PromptTurn): void {
    const { policy, state, evaluates, prompt } = turn;
    if (this.isOver || policy.length === 0 || policy.some(hasOpenState)) return;
    if (this.missesOf(state) >= MAX_MISSES || evaluates !== null || prompt.kind === 'compact') return;
    if (!this.pool.hasRoomFor(this.starting.size + 1)) return;
    // Whatever goes wrong here, the turn that comes will tell.
    const started = this.start(turn).catch(() => {});
    this.starting.add(started);
    started.finally(() => this.starting.delete(started));
  }

  /** Takes the process that waits for a turn; null if there is none, or if the project is not as it was when it started. */
  async take(asked: Asked): Promise<Pooled<Connection<Asked, Over>> | null> {
    const { turn, command } = asked;
    const found = this.pool.findReserved(turn);
    if (found === null || found.key !== command.key || found.connection?.fits(asked) !== true) return null;
    const { opener, conversation } = found;
    const { state } = opener;
    const before = conversation.kind === 'waiting' ? conversation.snapshot : null;
    if (before !== null && before === (await this.protocol.early.readSnapshot(asked))) {
      this.misses.delete(state);
      return this.pool.prompt(found, turn) ? found : null;
    }
    await this.pool.evict(found);
    // Its turns change the project, and will again.
    this.misses.set(state, MAX_MISSES);
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

  private async start(turn: PromptTurn): Promise<void> {
    const { early, choosesSession } = this.protocol;
    const planned = await this.planNext(turn);
    if (planned === null || !(await early.isSafe(planned))) return;
    const { agent, number, state } = turn;
    const opener = { agent, number, state, isEarly: true };
    if (existsSync(conversationRef(this.context, opener).dir)) return;
    for (const folder of [planned.turn.taskFolder, planned.turn.runFolder])
      if (folder !== null) await this.context.makeWorkFolder(folder);
    const snapshot = await early.readSnapshot(planned);
    await early.waitForStartSlot();
    if (snapshot === null || this.runOf(turn) === undefined || this.isOver) return;
    const session = choosesSession ? null : planned.session.id;
    const added = this.pool.add(opener, planned.command.key, session, { kind: 'early', snapshot });
    await this.pool.connect(added, (process, events) => early.open(planned, process, events));
  }

  /** Plans the turn after this one; null unless every transition that its policy permits leads to a start with the same command. */
  private async planNext(turn: PromptTurn): Promise<PlannedTurn | null> {
    const { early } = this.protocol;
    const session = { kind: 'new', id: randomUUID() } as const;
    let found: PlannedTurn | null = null;
    for (const entry of turn.policy) {
      const answered = await early.answer({ ...turn, stuck: null }, formatPolicyTag(entry));
      const run = this.runOf(turn);
      const next = run && freshTurnAfter(run, answered);
      const planned = next === undefined ? null : await early.plan(next, session);
      if (planned === null || (found !== null && found.command.key !== planned.command.key)) return null;
      found ??= planned;
    }
    return found;
  }

  /** The run as it is on disk, as long as a turn is under way in it. */
  private runOf({ agent: id, number }: PromptTurn): Run | undefined {
    const run = this.pool.savedRun;
    const agent = run?.agents[indexOfAgent(run.agents, id)];
    if (run === undefined || agent === undefined || run.stop !== null) return undefined;
    return recordedTurn(agent.phase)?.number === number ? run : undefined;
  }
}
