import { randomInt } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Windows reuses pids soon and shows no start times: a process is known by a named pipe that lasts as long as it does.

/** A process with the number of the pipe that it keeps. */
export interface PipeOwner {
  readonly pid: number;
  /** Decimal digits. */
  readonly number: string;
}

/** A number for a pipe that nobody has used before. */
export const createPipeNumber = (): string => String(randomInt(2 ** 47));

/** The name of a process's pipe; on other systems, where only tests use it, a socket. */
export function pipeName({ pid, number }: PipeOwner): string {
  const name = `raymond-${pid}-${number}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name);
}

/** Connects to the pipe of a process; null if that process is gone. */
export function connectToPipe(owner: PipeOwner): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(pipeName(owner));
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(null));
  });
}

/** True while the process that keeps this pipe exists. */
export async function hasPipe(owner: PipeOwner): Promise<boolean> {
  const socket = await connectToPipe(owner);
  socket?.destroy();
  return socket !== null;
}

let ownNumber: Promise<string | null> | undefined;

/** Opens the pipe of this process, once, and returns its number; null if the system allows none. */
export function openOwnPipe(): Promise<string | null> {
  ownNumber ??= new Promise((resolve) => {
    const number = createPipeNumber();
    const server = createServer((socket) => socket.on('error', () => {}).destroy());
    server.once('error', () => resolve(null));
    server.listen(pipeName({ pid: process.pid, number }), () => resolve(number));
    server.unref();
  });
  return ownNumber;
}
