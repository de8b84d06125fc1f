import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { newRunId } from '../core/ids.ts';
import { type Launch, launch } from './launch.ts';
import type { RunLocation } from './open-runs.ts';
import { getStatus } from './status.ts';

/** How to start a run in a process of its own. */
export interface DetachedRunRequest extends Pick<Launch, 'command' | 'cwd' | 'env'> {
  /** Where the run is to be; by default in files of `cwd`. */
  readonly location?: RunLocation;
  readonly workflow: string;
  /** Flags of `raymond run`, each in one word: `--budget=5`. */
  readonly flags: readonly string[];
  readonly input?: string;
  readonly name?: string;
  readonly now: number;
}

/** Starts a run that goes on whatever becomes of this process, and gives its id once it is on disk. */
export async function startDetachedRun(request: DetachedRunRequest): Promise<string> {
  const { command, cwd, location = cwd, env, workflow, flags, input, name, now } = request;
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
    args: ['run', workflow, `--run-id=${id}`, '--quiet', placeFlag(location), ...named, ...flags],
    ...(input !== undefined && { stdin: input }),
    hasBegun: () =>
      getStatus(id, location).then(
        () => true,
        () => false,
      ),
  });
  return id;
}

/** Continues a run in a process of its own, and returns when that has begun, or when the run waits for a worker. */
export async function continueDetachedRun(
  run: string,
  request: Pick<Launch, 'cwd' | 'env' | 'command'> & {
    readonly location?: RunLocation;
    readonly flags?: readonly string[];
  },
): Promise<void> {
  const { cwd, env, command, location = cwd, flags = [] } = request;
  const { seq } = (await getStatus(run, location)).run;
  const hasBegun = async (): Promise<boolean> => {
    const { run: now, waitsFor } = await getStatus(run, location);
    return now.seq > seq || waitsFor !== undefined;
  };
  await launch({
    command,
    env,
    cwd,
    args: ['resume', run, '--quiet', placeFlag(location), ...flags],
    hasBegun,
    leaves: typeof location !== 'string',
  });
}

/** A process that drives a run lives as long as it does; of a run that workers drive, nobody needs to watch it. */
const placeFlag = (location: RunLocation): string => (typeof location === 'string' ? '--no-database' : '--detach');
