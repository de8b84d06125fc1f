import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Failed } from '../../core/signals/signal.ts';
import type { PromptTurn, ScriptTurn } from '../../core/turns/due.ts';
import { EXIT, errorCodeOf, RaymondError } from '../../errors.ts';
import type { Rules } from '../../language/policy.ts';
import { renderTemplate } from '../../language/text/template.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { findCommand } from '../../process/find.ts';
import { turnMarker } from '../../process/marker.ts';
import { explainInvalidFile, isFolderName } from '../../scenario/answer-schema.ts';
import { chooseAnswer, formatAnswersPosition } from '../../scenario/choose-answer.ts';
import type { CannedAnswer, Scenario } from '../../scenario/scenario.ts';
import { failedSignal } from '../signals.ts';
import type { TurnContext } from '../turn-context.ts';

/** Everything that the replayed turns of one run share. */
export interface ReplayContext extends TurnContext {
  readonly scenario: Scenario;
  /** Treats every `seconds` as 0. */
  readonly fast: boolean;
  /** Simulates a crash of Raymond; only tests can. */
  readonly crash?: () => Promise<never>;
  /** Called with each answer that is used, as it is in the file. */
  readonly onAnswerUsed?: (answer: CannedAnswer) => void;
  /** Called with a message about each answer that the file lacks. */
  readonly onMissing?: (message: string) => void;
}

type CannedTurn = PromptTurn | ScriptTurn;

/** Finds the answer for a turn and fills it in; throws a RaymondError that says what is missing. */
export function requireAnswer(context: ReplayContext, turn: CannedTurn): ReturnType<typeof renderAnswer> {
  const choice = chooseAnswer(context.scenario, turn);
  if (choice.kind === 'none') throw unusableAnswerError(context, choice.message, ', then resume the run.');
  context.onAnswerUsed?.(choice.answer);
  return renderAnswer(choice.answer, turn.variables);
}

/** The variables that are not set of an answer that nobody needs. */
export const NO_UNKNOWN_VARIABLES = { unknown: [] } as const;

/** True if an agent may be refused to enter the state for this turn, and then needs no answer. */
export const mayExceedVisits = ({ visit }: CannedTurn, { maxVisits }: Rules): boolean =>
  maxVisits !== null && visit > maxVisits;

/** Warnings about variables of an answer that are not set. */
export function unsetVariableWarnings(
  { scenario }: ReplayContext,
  turn: CannedTurn,
  unknown: readonly string[],
): readonly string[] {
  return unknown.map((name) => `${scenario.file}: the answer for ${turn.state}: {{${name}}} is not set`);
}

/**
 * Finds the folder of a turn. That of an adopted turn may be lost in a power cut, and if another backend started the
 * turn, its process may be running: the one is made again, the other ended.
 */
export async function reclaimTurnFolder(context: ReplayContext, turn: CannedTurn, adopted: boolean): Promise<string> {
  const dir = context.folderOf(turn);
  if (!adopted) return dir;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const marker = turnMarker(context, turn);
  const { kind } = await findCommand(dir, marker);
  if (kind === 'alive') await endTurn(dir, marker, { graceMs: END_GRACE_MS });
  return dir;
}

/** Waits for a part of an answer's time; false if the turn is to end now. */
export function waitAnswerTime(
  { fast, endings, clock }: ReplayContext,
  { agent }: CannedTurn,
  { seconds }: CannedAnswer,
  parts: number,
): Promise<boolean> {
  return clock.sleepFor(fast ? 0 : (seconds * 1000) / parts, endings.signalFor(agent));
}

/** Simulates a crash of Raymond if an answer asks for it; the process that adopts the turn does not crash again. */
export async function crashIfRequested(
  { crash }: ReplayContext,
  answer: CannedAnswer,
  adopted: boolean,
): Promise<void> {
  if (answer.crash && !adopted) await crash?.();
}

/** Writes a file of an answer; throws a RaymondError if that cannot be done. */
export function writeAnswerFile(context: ReplayContext, turn: CannedTurn, file: readonly [string, string]): void {
  const problem = writeInsideFolder(turn.cwd, ...file);
  if (problem === null) return;
  throw unusableAnswerError(context, `${context.scenario.file}: the answer for ${turn.state}: ${problem}`);
}

/** Throws a RaymondError if an answer loses a conversation that this turn only begins. */
export function requireResumedSession(context: ReplayContext, turn: PromptTurn, { fail }: CannedAnswer): void {
  if (fail !== 'session_lost' || turn.record?.session?.kind !== 'new') return;
  const { scenario } = context;
  const part = scenario.answers.get(turn.state);
  const place = part === undefined ? scenario.file : formatAnswersPosition(part);
  const message = `${place}: the answer for ${turn.state}: \`fail: session_lost\` is for a turn that resumes a conversation, and this one begins it. Give it another`;
  throw unusableAnswerError(context, message, ', then resume the run.');
}

/** Replays a turn. If the file has no usable answer, the turn fails until the file is corrected. */
export async function failIfUnusable<T>(
  { clock }: ReplayContext,
  turn: CannedTurn,
  replay: () => Promise<T>,
): Promise<T | Failed> {
  try {
    return await replay();
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const failure = { kind: 'invalid_request', message: error.message } as const;
    return failedSignal(turn, clock.now(), failure, 0);
  }
}

/** Reports what the file lacks, and makes the error for this turn. */
function unusableAnswerError({ onMissing }: ReplayContext, message: string, advice = ''): RaymondError {
  onMissing?.(message);
  return new RaymondError(message + advice, { exitCode: EXIT.invalid });
}

/** Fills the agent's variables into a canned answer; `unknown` are those that are not set. */
function renderAnswer(
  answer: CannedAnswer,
  variables: Readonly<Record<string, string>>,
): { readonly answer: CannedAnswer; readonly unknown: readonly string[] } {
  const unknown = new Set<string>();
  const fill = (template: string): string => {
    const filled = renderTemplate(template, variables);
    for (const name of filled.unknown) unknown.add(name);
    return filled.text;
  };
  const write = Object.entries(answer.write).map(([name, content]) => [fill(name), fill(content)]);
  const filled = {
    ...answer,
    text: fill(answer.text),
    stderr: fill(answer.stderr),
    say: answer.say === null ? null : fill(answer.say),
    uses: answer.uses.map(fill),
    deny: answer.deny.map(fill),
    write: Object.fromEntries(write),
  };
  return { answer: filled, unknown: [...unknown] };
}

/**
 * Writes a file into an agent's working directory, folders included, or makes a folder; returns why it could not. A
 * file that begins with `#!` becomes executable.
 */
export function writeInsideFolder(cwd: string, name: string, content: string): string | null {
  const problem = explainInvalidFile(name, content);
  if (problem !== undefined) return problem;
  try {
    const path = join(cwd, name);
    mkdirSync(isFolderName(name) ? path : dirname(path), { recursive: true });
    if (isFolderName(name)) return null;
    writeFileSync(path, content);
    if (content.startsWith('#!')) chmodSync(path, 0o755);
    return null;
  } catch (error) {
    return `${name} cannot be written (${errorCodeOf(error)})`;
  }
}
