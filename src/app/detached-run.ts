import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newRunId } from '../core/run/ids.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { RunPlace } from './launcher.ts';

/** How to start a run in a process of its own. */
interface DetachedRunRequest extends Pick<Launch, 'command' | 'cwd' | 'env'>, RunPlace {
  readonly workflow: string;
  /** Flags of `raymond run`, each in one word: `--budget=5`. */
  readonly flags: readonly string[];
  readonly input?: string;
  readonly name?: string;
  readonly now: number;
}

/** Starts a run that continues whatever becomes of this process, and gives its id once it is on disk. */
export async function startDetachedRun(request: DetachedRunRequest): Promise<string> {
  const { command, cwd, storage, launcher, env, workflow, flags, input, name, now } = request;
  const hex = randomBytes(2).toString('hex');
  const id = newRunId(name ?? basename(workflow), now, -new Date(now).getTimezoneOffset(), hex);
  const named = [
    ...(name === undefined ? [] : [`--name=${name}`]),
    // Through stdin, because an argument has a limited length.
    ...(input === undefined ? [] : ['--input=-']),
  ];
  await launch({
    command,
    cwd,
    env,
    args: ['run', workflow, `--run-id=${id}`, '--quiet', launcher.detachFlag, ...named, ...flags],
    ...(input !== undefined && { stdin: input }),
    hasBegun: () =>
      storage.runs.observe(id).then(
        () => true,
        () => false,
      ),
  });
  return id;
}

/** Continues a run in a process of its own, and returns when that has begun, or when the run waits for a worker. */
export async function continueDetachedRun(
  run: string,
  request: Pick<DetachedRunRequest, 'cwd' | 'env' | 'command' | 'storage' | 'launcher'> & {
    readonly flags?: readonly string[];
  },
): Promise<void> {
  const { cwd, env, command, storage, launcher, flags = [] } = request;
  const { seq } = (await storage.runs.observe(run)).run;
  const hasBegun = async (): Promise<boolean> => {
    const { run: now, waitsFor } = await storage.runs.observe(run);
    return now.seq > seq || waitsFor !== undefined;
  };
  await launch({
    command,
    env,
    cwd,
    // Only a person at a terminal accepts changed code.
    args: ['resume', run, '--quiet', '--refuse-changed-code', launcher.detachFlag, ...flags],
    hasBegun,
    leaves: !launcher.isLocal,
  });
}

/** A command of Raymond that is to continue by itself, whatever becomes of the server. */
interface Launch {
  /** The command that starts Raymond, and its first arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly args: readonly string[];
  /** Text for its standard input. */
  readonly stdin?: string;
  /** True if what it was started for has happened: a run exists, or has an owner again. */
  readonly hasBegun: () => Promise<boolean>;
  /** True if it ends, with exit code 0, as soon as that has happened. */
  readonly leaves?: boolean;
}

const POLL_INTERVAL_MS = 50;
const MAX_WAIT_MS = 15_000;

/**
 * Starts a command of Raymond in a session of its own and waits until it has begun its work. Its streams are files without a
 * name, so nothing of it depends on the server. If it ends before, its last words are the refusal.
 */
export async function launch({ command, cwd, env, args, stdin = '', hasBegun, leaves = false }: Launch): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-launch-'));
  const [inFile, errFile] = [join(folder, 'in'), join(folder, 'err')];
  writeFileSync(inFile, stdin, { mode: 0o600 });
  const [input, errors] = [openSync(inFile, 'r'), openSync(errFile, 'wx+', 0o600)];
  // At once, so that nothing is left if we are killed; where open files cannot be removed, it is done at the end.
  removeFolder(folder);
  try {
    const [program, ...first] = command;
    const child = spawn(program, [...first, ...args], { cwd, env, detached: true, stdio: [input, 'ignore', errors] });
    let exitCode: number | null = null;
    child.on('exit', (code) => {
      exitCode = code ?? EXIT.bug;
    });
    child.on('error', () => {
      exitCode = EXIT.bug;
    });
    child.unref();
    for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += POLL_INTERVAL_MS) {
      if (await hasBegun()) return;
      if (exitCode === EXIT.completed && leaves) return;
      if (exitCode !== null) break;
      await delay(POLL_INTERVAL_MS);
    }
    // It may have begun and ended between two looks.
    if (await hasBegun()) return;
    const words = readAll(errors).trim();
    throw new RaymondError(words.replace(/^raymond: /, '') || 'Raymond did not start the run in time.', {
      exitCode: exitCode ?? EXIT.bug,
    });
  } finally {
    closeSync(input);
    closeSync(errors);
    removeFolder(folder);
  }
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It is a small file in the folder for temporary files.
  }
}

/** The text of an open file from its start, whatever its name is by now. */
function readAll(file: number): string {
  const buffer = Buffer.alloc(fstatSync(file).size);
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0)).toString('utf8');
}
