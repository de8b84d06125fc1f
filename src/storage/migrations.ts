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
import { NO_TOKENS } from '../core/run/tokens.ts';

/**
 * The versions of state files that can be read, each with the function that turns its data into the current version. A
 * released version stays resumable: it keeps its row here and its sample in `test/store/fixtures/versions/`.
 */
export const MIGRATIONS: ReadonlyMap<unknown, (data: object) => object> = new Map([
  [1, fromVersion1],
  [2, fromVersion2],
  [3, fromVersion3],
  [4, fromVersion4],
  [5, fromVersion5],
  [6, (data: object) => data],
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
  return fromVersion5({ ...data, ...agents });
}

/** Version 5 knows no choices and no questions about tools; what is missing gets its default where it is read. */
function fromVersion5(data: object): object {
  return { ...data, version: 6 };
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

/** Turns a step of an older journal into one of the current version; lines before version 5 have none. */
export const upgradeChange = (change: Change, version: number | undefined): Change =>
  version === undefined ? upgradeNames(change) : { ...change, events: change.events.map(completeEvent) };

const upgradeNames = (change: Change): Change => ({
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
      return { ...event, question: { ...event.question, choices: event.question.choices ?? null, permission: null } };
    case 'ask_answered':
    case 'ask_timed_out':
      return { ...event, permission: null };
    case 'run_ended':
      return { ...event, cannedMicros: event.cannedMicros ?? 0, tokens: event.tokens ?? NO_TOKENS };
    default:
      return event;
  }
}
