import { crc32 } from 'node:zlib';
import type { Change } from '../core/run/change.ts';
import type {
  AnswerWithheld,
  Event,
  Reminded,
  RunEnded,
  Transitioned,
  TurnEnded,
  TurnStarted,
} from '../core/run/event.ts';
import { RUN_VERSION, type Run } from '../core/run/run.ts';
import { NO_TOKENS } from '../core/run/tokens.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { tryParseJson } from '../language/text/json.ts';

/** A position in a journal: a step, and the byte offset after its line. */
export interface JournalPosition {
  readonly seq: number;
  readonly offset: number;
}

/** A position in a journal, and how to read on from there. */
export interface JournalEnd extends JournalPosition {
  /** The highest number of an owner up to here: a later line of a lower one does not count. */
  readonly owner: number;
}

/** The part of the journal that a state file includes, and how to read the rest. */
export interface JournalCoverage extends JournalEnd {
  /** The byte offset from which on every line has a checksum; null if none has. */
  readonly checkedFrom: number | null;
}

/** A turn that was on record when the machine went down: what its folder lacks may have been lost. */
interface DoubtfulTurn {
  readonly agent: string;
  readonly turn: number;
}

/** The content of a state file: a run, the part of the journal up to which it is complete, and facts about its processes. */
export interface SavedRun {
  readonly run: Run;
  readonly journal: JournalCoverage;
  /** The text in the markers of the run's processes, wherever its folder is; null before version 2. */
  readonly mark: string | null;
  /** The boot of the machine during which all turns on record began, but for the doubtful ones; null if unknown. */
  readonly bootId: string | null;
  readonly doubtful: readonly DoubtfulTurn[];
}

/** How a run began, in the first line of its journal: with the rest of the journal it is enough to rebuild the run. */
export type RunStart = Pick<SavedRun, 'run' | 'mark' | 'bootId'>;

/** Why a run had to be rebuilt from its journal. */
export type RunFileProblem = 'missing' | 'damaged';

/** A run as it was loaded. */
export interface LoadedRun extends SavedRun {
  /** The problem of the run file; null if it is whole. */
  readonly stateFileProblem: RunFileProblem | null;
}

/** Serializes a state file. */
export const serializeSavedRun = ({ run, journal, mark, bootId, doubtful }: SavedRun): string =>
  addStateChecksum(JSON.stringify({ ...run, journal, mark, bootId, doubtful }, null, 2));

/** Parses data of a run of any version; without `checksum` the text is not that of a state file, and needs none. */
export function parseVersionedJson(text: string, file: string, checksum?: ChecksumState): unknown {
  if (checksum === 'wrong') throw new DamagedRunFile(file, 'its checksum does not match');
  const data = parseJson(text, file);
  if (checksum === undefined) return migrateRunData(data, file);
  if (typeof data !== 'object' || data === null) throw new DamagedRunFile(file, 'it is not a JSON object');
  const { checksum: _checksum, ...content }: { readonly checksum?: unknown; readonly version?: unknown } = data;
  const migrated = migrateRunData(content, file);
  if (checksum === 'none' && content.version !== VERSION_WITHOUT_CHECKSUM)
    throw new DamagedRunFile(file, 'its checksum is missing');
  return migrated;
}

const VERSION_WITHOUT_CHECKSUM = 1;

/** Turns data of a run of any version into the current one; `file` is only for messages. */
export function migrateRunData(data: unknown, file: string): object {
  if (typeof data !== 'object' || data === null || !('version' in data))
    throw new DamagedRunFile(file, 'it has no `version`');
  const migrate = MIGRATIONS.get(data.version);
  if (migrate === undefined) throw unknownVersionError(file, data.version);
  return migrate(data);
}

function parseJson(text: string, file: string): unknown {
  const data = tryParseJson(text);
  if (data === undefined) throw new DamagedRunFile(file, 'it is not JSON');
  return data;
}

const unknownVersionError = (file: string, version: unknown): RaymondError =>
  invalidRunFileError(
    `${file} has version ${JSON.stringify(version)}; this Raymond reads versions 1 to ${RUN_VERSION}.`,
  );

/** The error for a state file with other bytes than Raymond wrote. */
export class DamagedRunFile extends RaymondError {
  constructor(file: string, why: string, cause?: unknown) {
    super(`${file} is not as Raymond wrote it: ${why}.`, {
      exitCode: EXIT.invalid,
      hint: 'The file was left untouched. Bring it back as it was, say from a backup, or start a new run.',
      cause,
    });
  }
}

/** The error for a file that this Raymond cannot have written. */
export const invalidRunFileError = (message: string, cause?: unknown): RaymondError =>
  new RaymondError(message, {
    exitCode: EXIT.invalid,
    hint: 'The file was left untouched. Use the Raymond that wrote it, or start a new run.',
    cause,
  });

/*
 * A disk may give back other bytes than it was given. Journal lines and state files end in a checksum of all the text before
 * it, so that a flipped bit is found instead of believed. Both are written by one program, so it is the text that is checked,
 * not its meaning.
 */

/** The verdict of a text's checksum. */
export type ChecksumState = 'right' | 'wrong' | 'none';

const LINE_CHECKSUM = /^,"sum":"([0-9a-f]{8})"\}$/;
const LINE_CHECKSUM_BYTES = ',"sum":"00000000"}'.length;

/** Adds the checksum to a line of the journal: the text of a JSON object. */
export function addLineChecksum(json: string): string {
  const body = json.slice(0, -1);
  return `${body},"sum":"${checksumOf(body)}"}`;
}

/** Checks a line of the journal, without its line feed. */
export function checkLine(line: Buffer): ChecksumState {
  const end = line.length - LINE_CHECKSUM_BYTES;
  const found = end < 0 ? null : LINE_CHECKSUM.exec(line.toString('latin1', end));
  if (found === null) return 'none';
  return checksumOf(line.subarray(0, end)) === found[1] ? 'right' : 'wrong';
}

const STATE_CHECKSUM = /,\n {2}"checksum": "([0-9a-f]{8})"\n\}\n$/;
const STATE_CHECKSUM_LENGTH = ',\n  "checksum": "00000000"\n}\n'.length;

/** Adds the checksum to a state file: the text of a JSON object, indented by two, without a line feed at its end. */
export function addStateChecksum(json: string): string {
  const body = json.slice(0, -'\n}'.length);
  return `${body},\n  "checksum": "${checksumOf(body)}"\n}\n`;
}

/** Checks a state file. */
export function checkState(text: string): ChecksumState {
  const found = STATE_CHECKSUM.exec(text.slice(-STATE_CHECKSUM_LENGTH));
  if (found === null) return 'none';
  return checksumOf(text.slice(0, -STATE_CHECKSUM_LENGTH)) === found[1] ? 'right' : 'wrong';
}

/** CRC-32 as eight hex digits: it finds every flipped bit, and every group of them that is shorter than itself. */
const checksumOf = (data: string | Buffer): string => crc32(data).toString(16).padStart(8, '0');

/**
 * The versions of state files that can be read, each with the function that turns its data into the current version. A
 * released version stays resumable: it keeps its row here and its sample in `test/storage/files/fixtures/versions/`.
 */
export const MIGRATIONS: ReadonlyMap<unknown, (data: object) => object> = new Map([
  [1, fromVersion1],
  [2, fromVersion2],
  [3, fromVersion3],
  [4, fromVersion4],
  [5, (data: object) => data],
]);

/** Version 1 has no checksums, no owner in a line, and markers that are made of the path. */
function fromVersion1(data: object): object {
  const run = fromVersion2(data);
  if (!('journal' in data) || typeof data.journal !== 'object') return run;
  const journal = { ...data.journal, owner: 0, checkedFrom: null };
  return { ...run, journal, mark: null, bootId: null, doubtful: [] };
}

/** Version 2 has fewer phases and fields; what is missing gets its default where it is read. */
function fromVersion2(data: object): object {
  return fromVersion3(data);
}

/** Version 3 knows no words of people to agents and no quota; what is missing gets its default where it is read. */
function fromVersion3(data: object): object {
  return fromVersion4(data);
}

/** Version 4 has other names for some fields of agents. */
function fromVersion4(data: object): object {
  const agents = 'agents' in data && Array.isArray(data.agents) ? { agents: data.agents.map(renameAgentFields) } : {};
  return { ...data, version: 5, ...agents };
}

/** Gives the fields of an agent, or those that a step changes, the names of version 5. */
function renameAgentFields(agent: unknown): unknown {
  if (typeof agent !== 'object' || agent === null) return agent;
  return Object.fromEntries(
    Object.entries(agent).map(([key, value]) => {
      if (key === 'said' && Array.isArray(value)) return ['messages', value.map(renameMessageFields)];
      return [AGENT_FIELDS[key] ?? key, value];
    }),
  );
}

const AGENT_FIELDS: Readonly<Record<string, string>> = { home: 'node', mustSay: 'tagRequired' };

const renameMessageFields = (message: unknown): unknown => {
  if (typeof message !== 'object' || message === null || !('heard' in message)) return message;
  const { heard: delivered, ...rest } = message;
  return { ...rest, delivered };
};

/** Turns a step of an older journal, whose lines have no version, into one of the current version. */
export const upgradeChange = (change: Change): Change => ({
  ...change,
  agents: change.agents.map((each) => ({ ...each, set: renameAgentFields(each.set) as typeof each.set })),
  events: change.events.map(completeEvent),
});

type WithOptional<T, Key extends keyof T> = Omit<T, Key> & Partial<Pick<T, Key>>;

/** An event as a journal may hold it: early journals have no tags of transitions, no tokens, and know no evaluators. */
type JournalEvent =
  | Exclude<Event, Transitioned | TurnStarted | TurnEnded | Reminded | AnswerWithheld | RunEnded>
  | WithOptional<Transitioned, 'tags' | 'tokens' | 'requested' | 'choice' | 'sessionUse' | 'cwd'>
  | WithOptional<TurnEnded, 'canned' | 'models' | 'evaluator'>
  | WithOptional<TurnStarted, 'evaluator'>
  | WithOptional<Reminded, 'evaluator'>
  | WithOptional<AnswerWithheld, Exclude<keyof AnswerWithheld, 'kind' | 'at' | 'agent' | 'state'>>
  | WithOptional<RunEnded, 'cannedMicros' | 'tokens'>;

const OLD_TRANSITION = {
  tags: [],
  tokens: NO_TOKENS,
  choice: { by: 'answer', name: null, why: null },
  sessionUse: null,
  cwd: '',
} as const;

const OLD_WITHHELD = {
  requested: [],
  implicit: false,
  session: null,
  sessionUse: null,
  cwd: '',
  costMicros: 0,
} as const;

/** Fills in what the events of older journals lack. */
function completeEvent(event: JournalEvent): Event {
  switch (event.kind) {
    case 'transition':
      return { ...OLD_TRANSITION, requested: event.tags ?? [], ...event };
    case 'turn_ended':
      return { canned: false, models: [], evaluator: null, ...event };
    case 'turn_started':
    case 'reminded':
      return { evaluator: null, ...event };
    case 'answer_withheld':
      return { ...OLD_WITHHELD, ...event };
    case 'asked':
      return { ...event, question: { ...event.question, choices: event.question.choices ?? null } };
    case 'run_ended':
      return { ...event, cannedMicros: event.cannedMicros ?? 0, tokens: event.tokens ?? NO_TOKENS };
    default:
      return event;
  }
}
