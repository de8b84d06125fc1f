import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { newRunId } from '../core/ids.ts';
import { type Launch, launch } from './launch.ts';
import { getStatus } from './status.ts';

/** How to start a run in a process of its own. */
export interface DetachedRunRequest extends Pick<Launch, 'command' | 'cwd' | 'env'> {
  readonly workflow: string;
  /** Flags of `raymond run`, each in one word: `--budget=5`. */
  readonly flags: readonly string[];
  readonly input?: string;
  readonly name?: string;
  readonly now: number;
}

/** Starts a run that goes on whatever becomes of this process, and gives its id once it is on disk. */
export async function startDetachedRun(request: DetachedRunRequest): Promise<string> {
  const { command, cwd, env, workflow, flags, input, name, now } = request;
  const hex = randomBytes(2).toString('hex');
  const id = newRunId(name ?? basename(workflow), now, -new Date(now).getTimezoneOffset(), hex);
  const named = [
    ...(name === undefined ? [] : [`--name=${name}`]),
    // Through stdin, because an argument has a limited length.
    ...(input === undefined ? [] : ['--input=-']),
  ];
  await launch({
    ...{ command, cwd, env },
    args: ['run', workflow, `--run-id=${id}`, '--quiet', ...named, ...flags],
    ...(input !== undefined && { stdin: input }),
    hasBegun: () =>
      getStatus(id, cwd).then(
        () => true,
        () => false,
      ),
  });
  return id;
}

/** Continues a run in a process of its own, and returns when that has begun. */
export async function continueDetachedRun(
  run: string,
  { cwd, env, command }: Pick<Launch, 'cwd' | 'env' | 'command'>,
): Promise<void> {
  const seqOf = async (): Promise<number> => (await getStatus(run, cwd)).run.seq;
  const seq = await seqOf();
  await launch({ command, env, cwd, args: ['resume', run, '--quiet'], hasBegun: async () => (await seqOf()) > seq });
}
