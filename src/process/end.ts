import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from './clock.ts';
import type { EndResult } from './command.ts';
import { findMarkedProcesses, findTurnProcesses, mayStillBegin } from './marker.ts';
import { isSameProcess, type ProcessEntry } from './process-table.ts';
import { endAllOnWindows, endOnWindows } from './windows.ts';

/** How long a process usually has to exit after a signal. */
export const END_GRACE_MS = 5_000;

/** How processes are ended. */
export interface EndOptions {
  /** How long to wait after each signal before SIGKILL. */
  readonly graceMs: number;
  /** True to send SIGINT before SIGTERM. */
  readonly interrupt?: boolean;
}

/** Ends all processes of a turn, with SIGTERM before SIGKILL; the wrapper still records how its command ended. */
export function endTurn(dir: string, marker: string, options: EndOptions): Promise<EndResult> {
  if (process.platform === 'win32') return endOnWindows(dir);
  return end(() => findOrPrevent(dir, marker), options);
}

/** Ends all processes whose marker has this prefix: `<run id>/` ends a whole run. */
export function endMarked(prefix: string, options: EndOptions): Promise<EndResult> {
  if (process.platform === 'win32') return endAllOnWindows(prefix);
  return end(() => findMarkedProcesses(prefix), options);
}

/** The processes of a turn. If it has none because it is about to begin, it is kept from that, or its processes are waited for. */
async function findOrPrevent(dir: string, marker: string): Promise<readonly ProcessEntry[]> {
  const deadline = monotonicMs() + WRAPPER_GRACE_MS;
  for (;;) {
    const found = await findTurnProcesses(dir, marker);
    if (found.length > 0 || !(await mayStillBegin(dir, marker)) || monotonicMs() > deadline) return found;
    await sleep(FIRST_PAUSE_MS);
  }
}

type Find = () => Promise<readonly ProcessEntry[]>;

const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 200;
/** How long a wrapper has to write its record after all others are gone. */
const WRAPPER_GRACE_MS = 1_000;
/** A process that is stuck in the kernel ends only when it gets out: waiting for that may take forever. */
const KILL_TIMEOUT_MS = 10_000;

async function end(find: Find, { graceMs, interrupt = false }: EndOptions): Promise<EndResult> {
  for (const signal of interrupt ? (['SIGINT', 'SIGTERM'] as const) : (['SIGTERM'] as const)) {
    if (await signalAll(find, signal, graceMs)) return { killed: 0, left: 0 };
  }
  return kill(find);
}

/**
 * Sends a signal once to each process, also to those that appear later; true if all ended in time. Once more when a
 * process has become another program: between the fork and the exec of a shell, the shell's own trap swallows the
 * signal.
 */
async function signalAll(find: Find, signal: 'SIGINT' | 'SIGTERM', graceMs: number): Promise<boolean> {
  const signalled = new Set<string>();
  const left = await repeatUntilGone(find, graceMs, (processes) => {
    for (const entry of processes) {
      const name = `${processKey(entry)} ${entry.program}`;
      // It reports the status of the command in the sandbox, which gets the signal itself.
      if (signalled.has(name) || entry.program.startsWith('bwrap ')) continue;
      signalled.add(name);
      send(entry, signal);
      // A stopped process gets its signals only when it continues.
      send(entry, 'SIGCONT');
    }
  });
  return left === 0;
}

/** Kills wrappers last, so that the kills are on record. */
async function kill(find: Find): Promise<EndResult> {
  const killed = new Set<string>();
  let aloneSince: number | undefined;
  const left = await repeatUntilGone(find, KILL_TIMEOUT_MS, (processes) => {
    const others = processes.filter((entry) => !entry.wrapper);
    aloneSince = others.length > 0 ? undefined : (aloneSince ?? monotonicMs());
    const late = aloneSince !== undefined && monotonicMs() - aloneSince > WRAPPER_GRACE_MS;
    for (const entry of late ? processes : others) {
      if (send(entry, 'SIGKILL')) killed.add(processKey(entry));
    }
  });
  return { killed: killed.size, left };
}

/** Acts on the processes until they are gone or the time is over; returns how many are left. */
async function repeatUntilGone(
  find: Find,
  forMs: number,
  act: (processes: readonly ProcessEntry[]) => void,
): Promise<number> {
  const deadline = monotonicMs() + forMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    const processes = await find();
    if (processes.length === 0) return 0;
    const leftMs = deadline - monotonicMs();
    if (leftMs <= 0 && pauseMs > FIRST_PAUSE_MS) return processes.length;
    act(processes);
    await sleep(Math.max(1, Math.min(pauseMs, leftMs)));
  }
}

const processKey = ({ pid, start }: ProcessEntry): string => `${pid} ${start}`;

/** Sends a signal; false if the process is gone by now, its pid belongs to another, or it is another user's. */
function send(entry: ProcessEntry, signal: NodeJS.Signals): boolean {
  try {
    return isSameProcess(entry) && process.kill(entry.pid, signal);
  } catch {
    return false;
  }
}
