import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { microsToUsd } from '../../core/run/ledger.ts';
import { turnRefOf } from '../../core/turns/due.ts';
import type { FailureKind } from '../../language/failure.ts';
import { isPrompt } from '../../language/state-names.ts';
import { explainInvalidPath } from '../../scenario/answer-schema.ts';
import type { CannedFailureName } from '../../scenario/scenario.ts';
import { FilesWritten } from '../../turns/claude/files-written.ts';
import { parseClaudeLine } from '../../turns/claude/parse-event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, type Transcript } from '../../turns/claude/transcript.ts';
import type { RecordedSummary } from './summaries.ts';
import type { RecordedTurn } from './visits.ts';

/** An answer as it is written into a scenario file. */
export type RecordedAnswer = Readonly<Record<string, unknown>>;

/** The output of a turn; a stream that was not kept is null. */
export interface RecordedOutput {
  readonly stdout: string | null;
  readonly stderr: string | null;
  /** The exit status of a script, if it is known. */
  readonly exitCode: number | null;
}

/** The data from which the answers of turns are recorded. */
export interface RecordingContext {
  readonly outputOf: (turn: RecordedTurn) => RecordedOutput;
  readonly cwdOf: (agent: string) => string;
  /** Removes secrets and local paths from a text of an agent. */
  readonly scrub: (agent: string, text: string) => string;
  /** The known contents of files, by path. */
  readonly files: Map<string, string>;
  /** Called with a sentence about something that could not be recorded. */
  readonly addNote: (message: string) => void;
}

/** Checks that the files of a turn are there. */
export const hasTurnFiles = (context: RecordingContext, turn: RecordedTurn): boolean =>
  context.outputOf(turn).stdout !== null;

/** Records the answer of a turn. */
export function recordAnswer(context: RecordingContext, turn: RecordedTurn): RecordedAnswer {
  const answer = isPrompt(turnRefOf(turn.end).state)
    ? recordPromptAnswer(context, turn)
    : recordScriptAnswer(context, turn);
  const seconds = Math.round(turn.end.durationMs / 1000);
  return { ...answer, ...(seconds > 0 && { seconds }) };
}

function recordPromptAnswer(context: RecordingContext, turn: RecordedTurn): RecordedAnswer {
  const { end, micros, resetsInMs, summary } = turn;
  const filesWritten = new FilesWritten(context.files);
  let transcript: Transcript = EMPTY_TRANSCRIPT;
  let cwd = context.cwdOf(end.agent);
  for (const line of (context.outputOf(turn).stdout ?? '').split('\n')) {
    const event = parseClaudeLine(line);
    transcript = addClaudeEvent(transcript, event);
    if (event.kind === 'init') cwd = event.cwd ?? cwd;
    filesWritten.addLine(line);
  }
  const text = toScenarioText(context, turn, answerText(transcript, end.failure !== null));
  const write = {
    ...recordNamedFiles(context, turn, cwd),
    ...recordWrittenFiles(context, turn, cwd, filesWritten),
    ...placeholderFiles(context, turn),
  };
  const fail = end.failure === null ? null : failureName(end.failure, transcript);
  const deny = end.denials.map((tool) => toScenarioText(context, turn, tool.replace(/^(\w+)\(([\s\S]*)\)$/, '$1 $2')));
  return {
    ...((text !== '' || fail === null) && { text }),
    ...(Object.keys(write).length > 0 && { write }),
    ...(deny.length > 0 && { deny }),
    ...(fail !== null && { fail }),
    ...(fail === 'usage_limit' && resetsInMs !== null && { resets_in: Math.max(0, Math.round(resetsInMs / 1000)) }),
    ...(micros > 0 && { cost: microsToUsd(micros) }),
    ...recordSummary(summary),
  };
}

/** The summary before an answer; one that cost nothing and did not fail need not be written. */
function recordSummary(summary: RecordedSummary | null): RecordedAnswer {
  if (summary === null || (summary.micros === 0 && !summary.failed)) return {};
  const { micros, failed } = summary;
  return { compact: { ...(micros > 0 && { cost: microsToUsd(micros) }), ...(failed && { fail: true }) } };
}

/** The answer; of a turn that failed, the last text before that. */
const answerText = ({ ownResult, lastText }: Transcript, hasFailed: boolean): string =>
  (hasFailed ? null : ownResult?.text) || lastText?.text || '';

/** The name of a failure in scenario files. */
function failureName(kind: FailureKind, { ownResult }: Transcript): CannedFailureName {
  switch (kind) {
    case 'transient':
      return ownResult === null ? 'no_result' : 'overloaded';
    case 'disk':
    case 'script':
    case 'no_answer':
    case 'interrupted':
    case 'lost':
    case 'stopped':
    case 'broken_off':
    case 'parked':
      return 'no_result';
    default:
      return kind;
  }
}

function recordScriptAnswer(context: RecordingContext, turn: RecordedTurn): RecordedAnswer {
  const { stdout, stderr, exitCode } = context.outputOf(turn);
  const text = toScenarioText(context, turn, stdout ?? '');
  const errorText = toScenarioText(context, turn, stderr ?? '');
  const write = {
    ...recordNamedFiles(context, turn, context.cwdOf(turn.end.agent)),
    ...placeholderFiles(context, turn),
  };
  const { failure } = turn.end;
  const isExit = failure !== null && failure !== 'no_answer' && failure !== 'timeout';
  const exit = isExit ? exitCode || 1 : 0;
  return {
    text,
    ...(errorText !== '' && { stderr: errorText }),
    ...(exit !== 0 && { exit }),
    ...(failure === 'timeout' && { fail: failure }),
    ...(Object.keys(write).length > 0 && { write }),
  };
}

/** The files that a turn has written in the folder it worked in. */
function recordWrittenFiles(
  context: RecordingContext,
  turn: RecordedTurn,
  cwd: string,
  { files, unknown }: FilesWritten,
): Record<string, string> {
  for (const name of unknown) skipFile(context, turn, name, 'it was edited, and nothing tells what it held before');
  return recordFiles(context, turn, cwd, files);
}

/** The files that the tags of a turn name: its answer is followed only if they are there. */
function recordNamedFiles(context: RecordingContext, turn: RecordedTurn, cwd: string): Record<string, string> {
  const files = turn.tags.flatMap(({ tag, written, attributes }): readonly (readonly [string, string])[] => {
    const { in: items, 'input-file': inputFile } = written.attributes;
    if (inputFile !== undefined) return [[inputFile, attributes.input ?? '']];
    if (items === undefined || tag !== 'fork-each') return [];
    const path = resolve(cwd, items);
    if (existsSync(path)) return [[items, readFileSync(path, 'utf8')]];
    skipFile(context, turn, items, 'it is no longer there');
    return [];
  });
  return recordFiles(context, turn, cwd, files);
}

function recordFiles(
  context: RecordingContext,
  turn: RecordedTurn,
  cwd: string,
  files: Iterable<readonly [string, string]>,
): Record<string, string> {
  const write: Record<string, string> = {};
  for (const [name, content] of files) {
    const relativePath = isAbsolute(name) ? relative(cwd, name) : name;
    // A path that begins with a backslash counts as absolute.
    const recordedPath = toScenarioText(context, turn, relativePath).replace(/^\\/, './\\');
    if (explainInvalidPath(relativePath) === undefined) write[recordedPath] = toScenarioText(context, turn, content);
    else skipFile(context, turn, name, 'it lies outside of the working directory');
  }
  return write;
}

function skipFile(context: RecordingContext, { end }: RecordedTurn, name: string, reason: string): void {
  const { agent, state, turn } = end;
  context.addNote(`${state}, turn ${turn} of ${agent}: ${context.scrub(agent, name)} is not recorded: ${reason}`);
}

/** The folders that the tags of a turn name: in the run they existed, in a test the answer has to make them. */
function placeholderFiles(context: RecordingContext, turn: RecordedTurn): Record<string, string> {
  const folders = turn.tags.flatMap(({ written }) => written.attributes.cd ?? []);
  return Object.fromEntries(
    folders
      .map((folder) => toScenarioText(context, turn, folder))
      .filter((folder) => folder !== '.' && explainInvalidPath(`${folder}/x`) === undefined)
      .map((folder) => [join(folder, '.keep'), '']),
  );
}

/** Scrubs a text, and escapes it so that it is not filled in as a template. */
const toScenarioText = ({ scrub }: RecordingContext, { end }: RecordedTurn, text: string): string =>
  scrub(end.agent, text).replace(/\{\{\s*[^\s{}]+\s*\}\}/g, (template) => `\\${template}`);
