import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findNamedFolders } from '../core/answer.ts';
import type { ClaudeTurn, ScriptTurn } from '../core/due.ts';
import type { Failure } from '../core/failure.ts';
import type { NamedFolder, NamedFolders } from '../core/named-folders.ts';
import type { Policy } from '../core/policy.ts';
import type { Answered, Failed } from '../core/signal.ts';
import { createFolderJudge, type FolderJudge } from './permitted-folders.ts';
import type { TurnContext } from './turn-context.ts';

/** The signal of an answer, with the files of the workflow and the folders that the answer names. */
export async function answeredSignal(
  context: TurnContext,
  turn: ClaudeTurn | ScriptTurn,
  at: number,
  { text, cost, denials }: Pick<Answered, 'text' | 'cost' | 'denials'>,
): Promise<Answered> {
  const { agent, policy, cwd } = turn;
  // A script is free to go anywhere: its words are its author's.
  const judge = turn.kind === 'claude' ? createFolderJudge(context, turn) : async () => undefined;
  const [scope, folders] = await Promise.all([context.readScope(), lookUpFolders(text, policy, cwd, judge)]);
  return { kind: 'answered', at, agent, text, cost, denials, scope, folders };
}

/** The signal of a turn that failed without a cost and without a conversation to resume. */
export const failedSignal = (
  { agent }: ClaudeTurn | ScriptTurn,
  at: number,
  failure: Failure,
  jitter = Math.random(),
): Failed => ({ kind: 'failed', at, agent, failure, cost: null, progress: 'none', jitter });

/** Resolves the folders that an answer names, relative to the agent's own; `judge` says why one may not be used. */
export async function lookUpFolders(
  text: string,
  policy: Policy,
  cwd: string,
  judge: FolderJudge = async () => undefined,
): Promise<NamedFolders> {
  const found = findNamedFolders(text, policy).map(async (named): Promise<readonly [string, NamedFolder]> => {
    const path = resolve(cwd, named);
    if (named.trim() === '') return [named, null];
    const isFolder = await stat(path).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    const refused = isFolder ? await judge(path) : undefined;
    return [named, refused === undefined ? (isFolder ? path : null) : { refused }];
  });
  return Object.fromEntries(await Promise.all(found));
}
