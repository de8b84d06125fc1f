import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findNamedFolders } from '../core/answer.ts';
import type { ClaudeTurn, ScriptTurn } from '../core/due.ts';
import type { Failure } from '../core/failure.ts';
import type { Policy } from '../core/policy.ts';
import type { Answered, Failed } from '../core/signal.ts';
import type { TurnContext } from './turn-context.ts';

/** The signal of an answer, with the files of the workflow and the folders that the answer names. */
export async function answeredSignal(
  context: TurnContext,
  { agent, policy, cwd }: ClaudeTurn | ScriptTurn,
  at: number,
  { text, cost, denials }: Pick<Answered, 'text' | 'cost' | 'denials'>,
): Promise<Answered> {
  const [scope, folders] = await Promise.all([context.readScope(), lookUpFolders(text, policy, cwd)]);
  return { kind: 'answered', at, agent, text, cost, denials, scope, folders };
}

/** The signal of a turn that failed without a cost and without a conversation to resume. */
export const failedSignal = (
  { agent }: ClaudeTurn | ScriptTurn,
  at: number,
  failure: Failure,
  jitter = Math.random(),
): Failed => ({ kind: 'failed', at, agent, failure, cost: null, progress: 'none', jitter });

/** Resolves the folders that an answer names, relative to the agent's own; null for those that do not exist. */
export async function lookUpFolders(text: string, policy: Policy, cwd: string): Promise<Record<string, string | null>> {
  const found = findNamedFolders(text, policy).map(async (named) => {
    const path = resolve(cwd, named);
    if (named.trim() === '') return [named, null] as const;
    const isFolder = await stat(path).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    return [named, isFolder ? path : null] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}
