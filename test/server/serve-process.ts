import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** `raymond serve` in a process of its own. */
export interface ServeProcess {
  readonly origin: string;
  readonly token: string;
  readonly err: () => string;
  readonly exited: Promise<number | null>;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  readonly post: (path: string, body?: object) => Promise<Response>;
  /** Kills it as a crash would, and waits until it is gone. */
  readonly crash: () => Promise<void>;
}

/** Starts `raymond serve` and waits for its address. It is killed after the test. */
export async function startServeProcess(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [resolve('dist/raymond.js'), 'serve', ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const exited = new Promise<number | null>((done) => child.on('close', done));
  const crash = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(crash);
  const address = await new Promise<string>((done, fail) => {
    createInterface(child.stdout).once('line', done);
    exited.then(() => fail(new Error(err)));
  });
  const [, origin = '', token = ''] = /^(http:\/\/[^/]+)\/\?token=(.+)$/.exec(address) ?? [];
  const request: ServeProcess['request'] = (path, init = {}) =>
    fetch(origin + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
  return {
    origin,
    token,
    exited,
    crash,
    request,
    err: () => err,
    signal: (name) => void child.kill(name),
    post: (path, body = {}) =>
      request(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
  };
}
