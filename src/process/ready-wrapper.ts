import { type StdioOptions, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { monotonicMs } from './clock.ts';
import { MARKER_VARIABLE, type NotStarted, type ProcessCommand, type StartedCommand } from './command.ts';
import { readyMarker } from './marker.ts';
import { procStart } from './process-table.ts';
import { canSeeMarkers, exitOf, makeOutputFiles, startCommand, toNotStarted, toProcessExit } from './start.ts';
import { readClaim } from './turn-files.ts';
import { lineForWrapper, type WaitingWrapper, wrapLater } from './wrapper.ts';

/** For so long a wrapper waits for a command. A run whose scripts come less often gains nothing by it. */
const READY_MS = 1_000;

interface ReadyWrapper {
  readonly wrapper: WaitingWrapper;
  readonly pid: number;
  readonly start: string;
  readonly stdin: Socket;
  readonly exited: Promise<number | null>;
}

/**
 * Starts the commands of one run. While commands come one after the other, a wrapper is started ahead and waits for the
 * next one: to start a process takes longer than most of what a transition does. It ends when this process is gone.
 */
export class CommandStarter {
  private readonly runMarker: string;
  private ready: ReadyWrapper | undefined;
  private timer: NodeJS.Timeout | undefined;
  private lastStartMs = Number.NEGATIVE_INFINITY;
  private isClosed = false;

  constructor(runMarker: string) {
    this.runMarker = runMarker;
  }

  /** Starts a command as `startCommand` does. */
  async start(dir: string, command: ProcessCommand): Promise<StartedCommand | NotStarted> {
    if (!canWait(command)) return startCommand(dir, command);
    const started = this.handOver(dir, command) ?? (await startCommand(dir, command));
    const now = monotonicMs();
    if (now - this.lastStartMs < READY_MS) setImmediate(() => this.prepare(command));
    this.lastStartMs = now;
    return started;
  }

  /** Ends the wrapper that waits. */
  close(): void {
    this.isClosed = true;
    this.dismiss();
  }

  /** Lets the waiting wrapper run this command; undefined if there is none, or it cannot. */
  private handOver(dir: string, command: ProcessCommand): StartedCommand | NotStarted | undefined {
    const { ready } = this;
    const line = ready && lineForWrapper(ready.wrapper, { dir, command, start: ready.start });
    if (ready === undefined || line === undefined) return undefined;
    this.ready = undefined;
    clearTimeout(this.timer);
    try {
      makeOutputFiles(dir);
    } catch (error) {
      ready.stdin.destroy();
      return toNotStarted(command, error);
    }
    ready.stdin.end(`${line}\n`);
    const exited = this.follow(ready, dir, command);
    exited.catch(() => {});
    return { kind: 'started', pid: ready.pid, stdin: null, exited };
  }

  /** A wrapper that was killed before it had its command has not run it, and never will. */
  private async follow({ exited }: ReadyWrapper, dir: string, command: ProcessCommand) {
    const exit = await toProcessExit(await exited, dir, command.env[MARKER_VARIABLE] ?? '');
    if (exit.kind !== 'died' || readClaim(dir) !== 'none') return exit;
    const started = await startCommand(dir, command);
    return started.kind === 'started' ? started.exited : exit;
  }

  private prepare(command: ProcessCommand): void {
    if (this.ready !== undefined || this.isClosed || !canSeeMarkers()) return;
    const likely = { ...command, env: { ...command.env, [MARKER_VARIABLE]: readyMarker(this.runMarker) } };
    const ready = startReady(likely);
    if (ready === undefined) return;
    this.ready = ready;
    ready.exited.then(() => {
      if (this.ready === ready) this.ready = undefined;
    });
    this.timer = setTimeout(() => this.dismiss(), READY_MS).unref();
  }

  private dismiss(): void {
    clearTimeout(this.timer);
    this.ready?.stdin.destroy();
    this.ready = undefined;
  }
}

/** True if a waiting wrapper can run it: it has no input, and a name that is no built-in. */
const canWait = ({ input, file }: ProcessCommand): boolean => input === 'none' && file.includes('/');

/** Starts a wrapper that waits; undefined if the system allows none. */
function startReady(likely: ProcessCommand): ReadyWrapper | undefined {
  const wrapper = wrapLater(likely);
  const { file, args, env } = wrapper;
  const inherited = likely.inherited === undefined ? [] : [likely.inherited];
  try {
    const stdio: StdioOptions = ['pipe', 'ignore', 'ignore', ...inherited];
    const child = spawn(file, args, { cwd: '/', env, stdio, detached: true });
    child.on('error', () => {});
    const start = child.pid === undefined ? undefined : procStart(child.pid);
    if (child.pid === undefined || start === undefined || !(child.stdin instanceof Socket)) return undefined;
    child.unref();
    child.stdin.unref();
    // A wrapper that is gone is seen by its exit.
    child.stdin.on('error', () => {});
    child.stdin.write(wrapper.script);
    return { wrapper, pid: child.pid, start, stdin: child.stdin, exited: exitOf(child) };
  } catch {
    return undefined;
  }
}
