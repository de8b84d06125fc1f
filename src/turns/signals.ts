import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CheckedResult, CheckedResults } from '../core/answers/checked-results.ts';
import type { LookedUpNames } from '../core/answers/looked-up.ts';
import type { Answered, Failed } from '../core/signals/signal.ts';
import type { PromptTurn, ScriptTurn } from '../core/turns/due.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { Failure } from '../language/failure.ts';
import type { NamedFile, NamedFiles, NamedFolder, NamedFolders } from '../language/named-folders.ts';
import type { NamedWorkflows } from '../language/named-workflows.ts';
import type { ChangedFile } from '../language/pinned-code.ts';
import type { Evaluator, Policy } from '../language/policy.ts';
import { compilePattern, type PatternMatch, type State } from '../language/state.ts';
import { isPrompt } from '../language/state-names.ts';
import {
  findNamedFiles,
  findNamedFolders,
  findNamedWorkflows,
  findResultTexts,
} from '../language/tags/permitted-tags.ts';
import { matchPattern } from '../patterns/match-pattern.ts';
import { checkResult } from '../schema/check-result.ts';
import { createFolderJudge, type FolderJudge } from './permitted-folders.ts';
import { takeFingerprint } from './progress.ts';
import type { TurnContext } from './turn-context.ts';

/** The signal of an answer, with the files of the workflow and the folders that the answer names. */
export async function answeredSignal(
  context: TurnContext,
  turn: PromptTurn | ScriptTurn,
  at: number,
  { text, cost, denials, reportedSession }: Pick<Answered, 'text' | 'cost' | 'denials' | 'reportedSession'>,
): Promise<Answered> {
  const { agent, evaluates, evaluators } = turn;
  const judge = createFolderJudge(context, turn, context.worktreeFolder(turn.agent));
  const nameWorkflows = (specs: readonly string[]): Promise<NamedWorkflows> =>
    context.nameWorkflows(turn.state, specs, turn.code);
  // The turn may have changed the schema that its own result is checked by.
  const use = { kind: 'claude', ...(turn.code && { code: turn.code }) } as const;
  const readSchemaState = (): Promise<State> => context.readState(evaluates?.state ?? turn.state, use);
  const answered: LookUpRequest = {
    ...turn,
    text,
    judge: turn.kind === 'claude' ? judge : undefined,
    nameWorkflows,
    readState: turn.checksResult === true ? readSchemaState : undefined,
  };
  const [scope, names, evaluated, fingerprint] = await Promise.all([
    context.readScope(turn.state),
    evaluates === null ? lookUpNames(answered) : lookUpAnswer(answered),
    evaluates === null
      ? undefined
      : lookUpNames({ ...answered, text: evaluates.text, judge: isPrompt(evaluates.state) ? judge : undefined }),
    takeFingerprint(context, turn, text),
  ]);
  const matches = evaluates === null && evaluators.length > 0 ? await matchPatterns(evaluators, text) : undefined;
  return {
    kind: 'answered',
    at,
    agent,
    text,
    cost,
    denials,
    scope,
    ...names,
    ...(matches !== undefined && { matches }),
    ...(evaluated !== undefined && { evaluated }),
    ...(reportedSession !== undefined && { reportedSession }),
    ...(fingerprint !== undefined && { fingerprint }),
  };
}

/** An answer whose folders, files and workflows are looked up. A script is free to go anywhere, because its words are its author's: it has no `judge`. */
interface LookUpRequest extends Pick<ScriptTurn, 'policy' | 'evaluators' | 'cwd'> {
  readonly text: string;
  readonly judge: FolderJudge | undefined;
  readonly nameWorkflows: (specs: readonly string[]) => Promise<NamedWorkflows>;
  /** Reads the state whose schema its results must fit; undefined if it has none. */
  readonly readState: (() => Promise<State>) | undefined;
}

/** Looks up the folders, files and workflows that the answer of a state names, and those of the transitions that override it. */
export async function lookUpNames(request: LookUpRequest): Promise<Required<LookedUpNames>> {
  const { evaluators } = request;
  const overriding = evaluators.flatMap((evaluator) => (evaluator.kind === 'pattern' ? [evaluator.instead] : []));
  const found = await Promise.all([
    ...overriding.map((entry) => lookUpAnswer({ ...request, text: '', policy: [entry], judge: undefined })),
    lookUpAnswer(request),
  ]);
  return {
    folders: Object.assign({}, ...found.map(({ folders }) => folders)),
    files: Object.assign({}, ...found.map(({ files }) => files)),
    workflows: Object.assign({}, ...found.map(({ workflows }) => workflows)),
    results: Object.assign({}, ...found.map(({ results }) => results)),
  };
}

async function lookUpAnswer(request: LookUpRequest): Promise<Required<LookedUpNames>> {
  const { text, policy, cwd, judge } = request;
  const specs = findNamedWorkflows(text, policy);
  const [folders, files, workflows, results] = await Promise.all([
    lookUpFolders(text, policy, cwd, judge),
    readNamedFiles(text, policy, cwd, judge),
    specs.length === 0 ? {} : request.nameWorkflows(specs),
    request.readState === undefined ? {} : checkResults(text, policy, request.readState),
  ]);
  return { folders, files, workflows, results };
}

/** The signal of a turn that failed without a cost and without a conversation to resume. */
export const failedSignal = (
  { agent }: PromptTurn | ScriptTurn,
  at: number,
  failure: Failure,
  jitter = Math.random(),
): Failed => ({ kind: 'failed', at, agent, failure, cost: null, progress: 'none', jitter });

/** Checks the results of an answer by the schema that its state has now. Without a schema any text fits. */
async function checkResults(text: string, policy: Policy, readState: () => Promise<State>): Promise<CheckedResults> {
  const texts = findResultTexts(text, policy);
  if (texts.length === 0) return {};
  const schema = await readState().then(
    (state) => state.resultSchema,
    (error: unknown) => {
      if (error instanceof RaymondError) return error;
      throw error;
    },
  );
  const verdicts = texts.map(async (each): Promise<readonly [string, CheckedResult]> => {
    if (schema instanceof RaymondError) return [each, { problem: schema.message, cannotCheck: true }];
    return [each, schema === undefined ? { text: each } : await checkResult(each, schema)];
  });
  return Object.fromEntries(await Promise.all(verdicts));
}

/** Resolves the folders that an answer names, relative to the agent's own; `judge` says why one may not be used. */
async function lookUpFolders(
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

/** More than this does not become part of a run. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** Reads the files that an answer hands over, relative to the agent's folder; `judge` says why a folder may not be used. */
async function readNamedFiles(
  text: string,
  policy: Policy,
  cwd: string,
  judge: FolderJudge = async () => undefined,
): Promise<NamedFiles> {
  const found = findNamedFiles(text, policy).map(async (named): Promise<readonly [string, NamedFile]> => {
    return [named, await readInput(resolve(cwd, named), judge)];
  });
  return Object.fromEntries(await Promise.all(found));
}

async function readInput(path: string, judge: FolderJudge): Promise<NamedFile> {
  const stats = await stat(path).catch(() => null);
  if (stats === null) return { problem: 'there is no such file' };
  if (!stats.isFile()) return { problem: stats.isDirectory() ? 'it is a folder' : 'it is not a file' };
  if (stats.size > MAX_INPUT_BYTES) return { problem: `it has more than ${MAX_INPUT_BYTES / 1024 / 1024} MiB` };
  const refused = await judge(dirname(await realpath(path)), 'read');
  if (refused !== undefined) return { problem: `this state may not read it: ${refused}` };
  return readFile(path, 'utf8').then(
    (content) => ({ text: content }),
    (error: Error) => ({ problem: error.message }),
  );
}

/** By evaluator, whether its pattern matches a text; null for one that has no pattern. */
export async function matchPatterns(
  evaluators: readonly Evaluator[],
  text: string,
  deadlineMs?: number,
): Promise<readonly PatternMatch[]> {
  const matches: PatternMatch[] = [];
  for (const evaluator of evaluators) {
    if (evaluator.kind !== 'pattern') matches.push(null);
    // The first one that takes too long fails the state, so that nobody asks for those after it.
    else if (matches.includes('timeout')) matches.push('timeout');
    else {
      const compiled = compilePattern(evaluator.pattern);
      // The file was checked when it was read; a pattern that has changed since and is wrong matches nothing.
      matches.push('problem' in compiled ? false : await matchPattern(compiled, text, deadlineMs));
    }
  }
  return matches;
}

/** Says that a turn would use code which the run has not seen before. */
export class ChangedCodeError extends RaymondError {
  readonly changed: readonly ChangedFile[];

  constructor(message: string, changed: readonly ChangedFile[]) {
    super(message, { exitCode: EXIT.paused });
    this.changed = changed;
  }
}
