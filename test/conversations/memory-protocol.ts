import { setImmediate as nextTick } from 'node:timers/promises';
import type {
  Connection,
  ConnectionEvents,
  ConversationProtocol,
  PlannedTurn,
  SendEvents,
  SendResult,
} from '../../src/conversations/protocol.ts';
import type { ProcessRef } from '../../src/process/command.ts';

/** How a turn ends in memory: with an answer, or together with its process. */
export interface MemoryTurn extends PlannedTurn {
  readonly end: 'answers' | 'exits';
}

/** A conversation without a process: it ends when its input does, or when it is told to. */
export class MemoryConnection implements Connection<MemoryTurn, MemoryConnection> {
  readonly exited: Promise<void>;
  readonly position = { stdout: 0, stderr: 0 };
  readonly ref: ProcessRef;
  session: string;
  hasExited = false;
  hangUps = 0;
  /** The numbers of its turns. */
  readonly turns: number[] = [];
  private resolve: () => void = () => {};

  constructor(ref: ProcessRef, session: string) {
    this.ref = ref;
    this.session = session;
    this.exited = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  fits(): boolean {
    return true;
  }

  async send({ turn, end }: MemoryTurn, _: string, events: SendEvents): Promise<SendResult<MemoryConnection>> {
    this.turns.push(turn.number);
    events.onSent();
    await nextTick();
    events.onBegun(true);
    if (end === 'exits') {
      this.exit();
      await nextTick();
    }
    return { kind: 'over', over: this };
  }

  steer(): boolean {
    return true;
  }

  interrupt(): boolean {
    return true;
  }

  hangUp(): void {
    this.hangUps += 1;
    this.exit();
  }

  exit(): void {
    this.hasExited = true;
    this.resolve();
  }
}

/** Opens conversations in memory, and fails if a session would have two users. */
export class MemoryProtocol implements ConversationProtocol<MemoryTurn, MemoryConnection, MemoryTurn> {
  readonly choosesSession: boolean;
  readonly connections: MemoryConnection[] = [];
  readonly early = {
    answer: () => Promise.reject(new Error('nothing is started early')),
    plan: async () => null,
    isSafe: async () => false,
    readSnapshot: async () => null,
    waitForStartSlot: async () => {},
    open: () => Promise.reject(new Error('nothing is started early')),
  };

  constructor(choosesSession = false) {
    this.choosesSession = choosesSession;
  }

  async open({ session }: MemoryTurn, ref: ProcessRef, { onOpened }: ConnectionEvents): Promise<MemoryConnection> {
    const isChosen = this.choosesSession && session.kind !== 'resume';
    const id = isChosen ? `thread-${this.connections.length + 1}` : session.id;
    const user = this.connections.find((each) => each.session === id && !each.hasExited);
    if (user !== undefined) throw new Error(`the session ${id} has a user`);
    const connection = new MemoryConnection(ref, id);
    this.connections.push(connection);
    if (isChosen) onOpened(id);
    return connection;
  }

  async recover(): Promise<never> {
    throw new Error('nothing is left');
  }
}
