import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { foldersNamed } from '../../core/answer.ts';
import type { FailureKind } from '../../core/failure.ts';
import { usdOf } from '../../core/ledger.ts';
import { isPrompt } from '../../core/names.ts';
import { recordedExit, turnFiles } from '../../process/turn-files.ts';
import { faultOfPath } from '../../scenario/answer-schema.ts';
import type { FailureName } from '../../scenario/scenario.ts';
import { readEvent } from '../../turns/claude/events.ts';
import { FilesWritten } from '../../turns/claude/files-written.ts';
import { EMPTY_TRANSCRIPT, hear, type Transcript } from '../../turns/claude/transcript.ts';
import type { KeptTurn } from './visits.ts';

/** An answer as it is written into a scenario file. */
export type GivenAnswer = Readonly<Record<string, unknown>>;

/** What is needed to make answers of turns. */
export interface Recorder {
  readonly folderOf: (turn: KeptTurn) => string;
  readonly cwdOf: (agent: string) => string;
  /** Makes a text fit to be shown to others, as an agent sees it. */
  readonly scrub: (agent: string, text: string) => string;
  /** What is known of files, by path. */
  readonly files: Map<string, string>;
  /** Told what could not be recorded. */
  readonly note: (message: string) => void;
}

/** Whether the files of a turn are there. */
export const isOnRecord = (recorder: Recorder, turn: KeptTurn): boolean =>
  existsSync(turnFiles(recorder.folderOf(turn)).stdout);

/** What a turn answered. */
export function answerOf(recorder: Recorder, turn: KeptTurn): GivenAnswer {
  const answer = isPrompt(turn.end.state) ? promptAnswer(recorder, turn) : scriptAnswer(recorder, turn);
  const seconds = Math.round(turn.end.durationMs / 1000);
  return { ...answer, ...(seconds > 0 && { seconds }) };
}

function promptAnswer(recorder: Recorder, turn: KeptTurn): GivenAnswer {
  const { end, micros, resetsInMs } = turn;
  const said = new FilesWritten(recorder.files);
  let transcript: Transcript = EMPTY_TRANSCRIPT;
  let cwd = recorder.cwdOf(end.agent);
  for (const line of readFileSync(turnFiles(recorder.folderOf(turn)).stdout, 'utf8').split('\n')) {
    const event = readEvent(line);
    transcript = hear(transcript, event);
    if (event.kind === 'init') cwd = event.cwd ?? cwd;
    said.hear(line);
  }
  const text = fitted(recorder, turn, textOf(transcript, end.failure !== null));
  const write = { ...writtenBy(recorder, turn, cwd, said), ...foldersIn(text) };
  const fail = end.failure === null ? null : failureOf(end.failure, transcript);
  const deny = end.denials.map((tool) => fitted(recorder, turn, tool.replace(/^(\w+)\(([\s\S]*)\)$/, '$1 $2')));
  return {
    ...((text !== '' || fail === null) && { text }),
    ...(Object.keys(write).length > 0 && { write }),
    ...(deny.length > 0 && { deny }),
    ...(fail !== null && { fail }),
    ...(fail === 'usage_limit' && resetsInMs !== null && { resets_in: Math.max(0, Math.round(resetsInMs / 1000)) }),
    ...(micros > 0 && { cost: usdOf(micros) }),
  };
}

/** What counts as the answer; of a turn that failed, what had been said until then. */
const textOf = ({ ownResult, lastText }: Transcript, hasFailed: boolean): string =>
  (hasFailed ? null : ownResult?.text) || lastText?.text || '';

/** A failure by the name that whoever writes scenarios knows it by. */
function failureOf(kind: FailureKind, { ownResult }: Transcript): FailureName {
  switch (kind) {
    case 'transient':
      return ownResult === null ? 'no_result' : 'overloaded';
    case 'script':
    case 'interrupted':
    case 'lost':
    case 'stopped':
      return 'no_result';
    default:
      return kind;
  }
}

function scriptAnswer(recorder: Recorder, turn: KeptTurn): GivenAnswer {
  const { stdout, stderr } = turnFiles(recorder.folderOf(turn));
  const text = fitted(recorder, turn, readFileSync(stdout, 'utf8'));
  const aside = existsSync(stderr) ? fitted(recorder, turn, readFileSync(stderr, 'utf8')) : '';
  const write = foldersIn(text);
  const exit = turn.end.failure === null ? 0 : recordedExit(recorder.folderOf(turn)) || 1;
  return {
    text,
    ...(aside !== '' && { stderr: aside }),
    ...(exit !== 0 && { exit }),
    ...(Object.keys(write).length > 0 && { write }),
  };
}

/** The files that a turn has written in the folder it worked in. */
function writtenBy(
  recorder: Recorder,
  turn: KeptTurn,
  cwd: string,
  { files, unknown }: FilesWritten,
): Record<string, string> {
  const { agent, state, turn: number } = turn.end;
  const write: Record<string, string> = {};
  const skip = (name: string, why: string): void =>
    recorder.note(`${state}, turn ${number} of ${agent}: ${recorder.scrub(agent, name)} is not recorded: ${why}`);
  for (const name of unknown) skip(name, 'it was edited, and nothing tells what it held before');
  for (const [name, content] of files) {
    const inside = isAbsolute(name) ? relative(cwd, name) : name;
    // What begins with a backslash would be taken for an absolute path.
    const given = fitted(recorder, turn, inside).replace(/^\\/, './\\');
    if (faultOfPath(inside) === undefined) write[given] = fitted(recorder, turn, content);
    else skip(name, 'it lies outside of the working directory');
  }
  return write;
}

/** Somebody has made the folders that a tag wants to be worked in; for a scenario it is the answer with the tag. */
function foldersIn(text: string): Record<string, string> {
  const folders = foldersNamed(text, []).filter((folder) => faultOfPath(`${folder}/x`) === undefined);
  return Object.fromEntries(folders.filter((folder) => folder !== '.').map((folder) => [join(folder, '.keep'), '']));
}

/** A text for others to see, which is no template whatever it holds. */
const fitted = ({ scrub }: Recorder, { end }: KeptTurn, text: string): string =>
  scrub(end.agent, text).replace(/\{\{\s*[^\s{}]+\s*\}\}/g, (written) => `\\${written}`);
