import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { newRunId } from '../core/run/ids.ts';
import { type Launch, launch } from './launch.ts';
import type { RunPlace } from './launcher.ts';

/** How to start a run in a process of its own. */
export interface DetachedRunRequest extends Pick<Launch, 'command' | 'cwd' | 'env'>, RunPlace {
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
