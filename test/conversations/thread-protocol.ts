import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TurnMessage } from '../../src/conversations/conversation.ts';
import type {
  Connection,
  ConnectionEvents,
  ConversationProtocol,
  EarlyStartProtocol,
  PlannedTurn,
  SendEvents,
  SendResult,
} from '../../src/conversations/protocol.ts';
import type { TurnLocator } from '../../src/conversations/records.ts';
import type { Answered } from '../../src/core/signals/signal.ts';
import type { PromptTurn } from '../../src/core/turns/due.ts';
import { MARKER_VARIABLE, type NotStarted, type ProcessRef, type StartedCommand } from '../../src/process/command.ts';
import { followLines } from '../../src/process/lines.ts';
import { startCommand } from '../../src/process/start.ts';
import { turnFiles } from '../../src/process/turn-files.ts';

/*
 * A second backend, as small as can be: a program that chooses the id of its thread when it gets its first prompt, and keeps the
 * thread in a file. `prompt ID wait` is over when it is interrupted.
 */
const PROGRAM = `
thread=$THREAD
while read -r verb id text; do
  case $verb in
    prompt)
      [ -n "$thread" ] || thread=thread-$$
      echo "opened $thread"
      echo "$id $text" >> "$THREADS/$thread"
      [ "$text" = wait ] || echo "over $thread $$ $text" ;;
    steer) echo "heard $id" ;;
    interrupt) echo "acknowledged"; echo "over $thread $$ interrupted" ;;
  esac
done
`;

/** A turn and its prompt. */
export interface ThreadTurn extends PlannedTurn {
  readonly prompt: string;
}

/** The end of a turn: the thread and the process that took it, and its answer. */
export interface ThreadAnswer {
  readonly thread: string;
  readonly pid: number;
  readonly answer: string;
}

class ThreadConnection implements Connection<ThreadTurn, ThreadAnswer> {
  readonly exited: Promise<unknown>;
  readonly heard: string[] = [];
  private bytes = 0;
  private readonly started: StartedCommand;
  private onOver: (over: ThreadAnswer) => void = () => {};
  private onBegun: () => void = () => {};

  constructor(ref: ProcessRef, started: StartedCommand, events: ConnectionEvents) {
    this.started = started;
    const read = (line: Buffer): void => {
      this.bytes += line.length + 1;
      const [verb, ...words] = line.toString().split(' ');
      if (verb === 'opened') {
        events.onOpened(words[0] ?? '');
        this.onBegun();
      }
      if (verb === 'heard') this.heard.push(words[0] ?? '');
      if (verb === 'acknowledged') events.onAcknowledged();
      const [thread = '', pid, answer = ''] = words;
      if (verb === 'over') this.onOver({ thread, pid: Number(pid), answer });
    };
    this.exited = followLines(turnFiles(ref.dir).stdout, read, { until: started.exited });
  }

  get position() {
    return { stdout: this.bytes, stderr: 0 };
  }

  fits(): boolean {
    return true;
  }

  async send({ prompt }: ThreadTurn, id: string, events: SendEvents): Promise<SendResult<ThreadAnswer>> {
    const over = new Promise<ThreadAnswer>((resolve) => {
      this.onOver = resolve;
    });
    this.onBegun = () => events.onBegun(true);
    this.write(`prompt ${id} ${prompt}`);
    events.onSent();
    return { kind: 'over', over: await over };
  }

  steer({ id }: TurnMessage): boolean {
    return this.write(`steer ${id}`);
  }

  interrupt(): boolean {
    return this.write('interrupt');
  }

  hangUp(): void {
    this.started.stdin?.end();
  }

  private write(line: string): boolean {
    return this.started.stdin?.write(`${line}\n`) !== undefined;
  }
}

/** Runs that program. Everything that conversations need of a backend is here. */
export class ThreadProtocol implements ConversationProtocol<ThreadTurn, ThreadAnswer, { readonly turn: PromptTurn }> {
  readonly choosesSession = true;
  readonly connections: ThreadConnection[] = [];
  /** The command of every turn. */
  readonly command: PlannedTurn['command'];
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    const env = { PATH: process.env.PATH ?? '', THREADS: folder, THREAD: '' };
    this.command = { key: 'k', file: '/bin/sh', args: ['-c', PROGRAM], cwd: folder, env };
  }

  open({ session }: ThreadTurn, ref: ProcessRef, events: ConnectionEvents): Promise<ThreadConnection | NotStarted> {
    return this.start(ref, events, session.kind === 'resume' ? session.id : '');
  }

  /** Reads the thread, as a server would. */
  async recover({ turn }: { readonly turn: PromptTurn }, { uuid }: TurnLocator): Promise<ThreadAnswer> {
    const thread = turn.record?.session?.id ?? '';
    const file = join(this.folder, thread);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return { thread, pid: 0, answer: lines.find((line) => line.startsWith(uuid))?.slice(uuid.length + 1) ?? '' };
  }

  readonly early: EarlyStartProtocol<ThreadTurn, ThreadAnswer> = {
    answer: async ({ agent, policy }, text): Promise<Answered> => ({
      kind: 'answered',
      at: 0,
      agent,
      text,
      cost: null,
      denials: [],
      folders: {},
      scope: { files: policy.flatMap((entry) => ('target' in entry ? [String(entry.target)] : [])), platform: 'unix' },
    }),
    plan: async (turn, session) => ({ turn, session, command: this.command }),
    isSafe: async () => true,
    readSnapshot: async () => 'as it was',
    waitForStartSlot: async () => {},
    open: (_, ref, events) => this.start(ref, events, ''),
  };

  private async start(
    ref: ProcessRef,
    events: ConnectionEvents,
    thread: string,
  ): Promise<ThreadConnection | NotStarted> {
    const env = { ...this.command.env, THREAD: thread, [MARKER_VARIABLE]: ref.marker };
    writeFileSync(join(ref.dir, 'stdin'), '');
    const started = await startCommand(ref.dir, { ...this.command, env, input: 'pipe' });
    if (started.kind === 'not_started') return started;
    const connection = new ThreadConnection(ref, started, events);
    this.connections.push(connection);
    return connection;
  }
}
