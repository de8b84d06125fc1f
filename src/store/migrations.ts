import type { AnswerWithheld, Event, Reminded, RunEnded, Transitioned, TurnEnded, TurnStarted } from '../core/event.ts';
import { NO_TOKENS } from '../core/tokens.ts';

/**
 * The versions of state files that can be read, each with the function that turns its data into the current version. A
 * released version stays resumable: it keeps its row here and its sample in `test/store/fixtures/versions/`.
 */
export const MIGRATIONS: ReadonlyMap<unknown, (data: object) => object> = new Map([
  [1, fromVersion1],
  [2, fromVersion2],
  [3, fromVersion3],
  [4, (data: object) => data],
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
  return { ...data, version: 4 };
}

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
export function completeEvent(event: JournalEvent): Event {
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
    case 'run_ended':
      return { ...event, cannedMicros: event.cannedMicros ?? 0, tokens: event.tokens ?? NO_TOKENS };
    default:
      return event;
  }
}
