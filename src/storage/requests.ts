import { tryParseJson } from '../language/text/json.ts';

/*
 * A request is pending until the process that drives the run has it in the journal; then it is settled, and stays findable for as
 * long as the run exists. Parsed by hand: every run polls for requests, and the library for schemas takes 40 ms to load.
 *
 *   put ──▶ pending ──settle──▶ accepted | refused
 *              └────withdraw──▶ gone
 */

/** `soon` starts nothing new and lets running turns finish; `now` ends them. */
export type StopMode = 'soon' | 'now';

/** A request that a person, or a deadline, makes of a run. */
export type InboxRequest = {
  /** Unique within the run; an answer and a timeout have the id of their question. */
  readonly id: string;
  readonly by: string;
  readonly at: number;
} & RequestContent;

type RequestContent =
  /** `lease` names the process, or in a database the resume, that is asked to stop. */
  | { readonly kind: 'stop'; readonly mode: StopMode; readonly lease: string }
  | { readonly kind: 'message'; readonly agent: string; readonly text: string }
  | { readonly kind: 'interrupt'; readonly agent: string; readonly text: string | null }
  /** `files` are the keys of blobs, which are put before their answer. */
  | { readonly kind: 'answer'; readonly text: string; readonly files: readonly string[] }
  | { readonly kind: 'timeout' };

/** A request that cannot be read; its id is known from where it was found. */
export interface UnreadableRequest {
  readonly kind: 'unreadable';
  readonly id: string;
  /** A sentence without its period. */
  readonly message: string;
}

/** A request as it was found. */
export type PendingRequest = InboxRequest | UnreadableRequest;

/** How a request was settled: it is in the journal, with the turn that it reached, or it was refused. */
export type RequestOutcome =
  | { readonly kind: 'accepted'; readonly turn: number | null }
  | { readonly kind: 'refused'; readonly reason: string };

/** A request and its outcome, which is null while it is pending. */
export interface FoundRequest {
  readonly request: PendingRequest;
  readonly outcome: RequestOutcome | null;
}

/** The id of a request to stop: the same request of the same lease has the same id. */
export const stopIdOf = (mode: StopMode, lease: string): string => `stop-${mode}-${lease}`;

/** Orders requests by time. */
export const compareRequests = (a: PendingRequest, b: PendingRequest): number =>
  timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : 1);

const timeOf = (request: PendingRequest): number => ('at' in request ? request.at : 0);

const VERSION = 1;

/** Formats a request with its outcome as a text that is complete in itself. */
export const formatRequest = (request: InboxRequest, outcome: RequestOutcome | null): string =>
  `${JSON.stringify({ version: VERSION, ...request, outcome })}\n`;

/** Parses the text of a request; null if Raymond did not write it. */
export function parseRequestText(text: string): { request: InboxRequest; outcome: RequestOutcome | null } | null {
  const data: unknown = tryParseJson(text);
  if (!isRecord(data) || data.version !== VERSION) return null;
  const request = parseRequest(data);
  return request === null ? null : { request, outcome: parseOutcome(data.outcome) };
}

/** Formats the part of a request that only its kind has. */
export function formatContent({ id: _id, kind: _kind, by: _by, at: _at, ...content }: InboxRequest): string {
  return JSON.stringify(content);
}

/** Parses the fields of a request; null if they are not those of one. */
export function parseRequest(data: Readonly<Record<string, unknown>>): InboxRequest | null {
  const { id, by, at, kind } = data;
  if (typeof id !== 'string' || typeof by !== 'string' || typeof at !== 'number') return null;
  const content = parseContent(kind, data);
  return content && { id, by, at, ...content };
}

function parseContent(kind: unknown, data: Readonly<Record<string, unknown>>): RequestContent | null {
  const { mode, lease, agent, text, files } = data;
  switch (kind) {
    case 'stop':
      return (mode === 'soon' || mode === 'now') && typeof lease === 'string' ? { kind, mode, lease } : null;
    case 'message':
      return typeof agent === 'string' && typeof text === 'string' ? { kind, agent, text } : null;
    case 'interrupt':
      return typeof agent === 'string' && (typeof text === 'string' || text === null) ? { kind, agent, text } : null;
    case 'answer':
      return typeof text === 'string' && isUploadKeys(files) ? { kind, text, files } : null;
    case 'timeout':
      return { kind };
    default:
      return null;
  }
}

/** Parses an outcome; null if there is none. */
export function parseOutcome(data: unknown): RequestOutcome | null {
  if (!isRecord(data)) return null;
  const { kind, turn, reason } = data;
  if (kind === 'accepted') return { kind, turn: typeof turn === 'number' ? turn : null };
  return kind === 'refused' ? { kind, reason: typeof reason === 'string' ? reason : '' } : null;
}

const isRecord = (data: unknown): data is Readonly<Record<string, unknown>> =>
  typeof data === 'object' && data !== null;

/** The key of a file that comes with an answer; `group` is unique to the answer. */
export const uploadKey = (run: string, group: string, name: string): string => `run/${run}/upload/${group}/${name}`;

/** Splits the key of a file that comes with an answer; null if it is none, or leads elsewhere. */
export function parseUploadKey(key: string): { readonly run: string; group: string; readonly name: string } | null {
  const [root, run = '', folder, group = '', name = '', ...rest] = key.split('/');
  const isKey = root === 'run' && folder === 'upload' && rest.length === 0 && [run, group, name].every(isPlainName);
  return isKey ? { run, group, name } : null;
}

/** True for the name of a file or folder that leads nowhere else: it is read, written or removed. */
const isPlainName = (name: string): boolean => !/^\.{0,2}$|[/\\\0]/.test(name);

const isUploadKeys = (files: unknown): files is readonly string[] =>
  Array.isArray(files) && files.every((key) => typeof key === 'string' && parseUploadKey(key) !== null);
