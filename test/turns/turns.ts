import type { PromptTurn, ScriptTurn } from '../../src/core/turns/due.ts';

/** What turns of all kinds have in common that are the first of the main agent, in a run with nothing special. */
const COMMON = {
  agent: 'main',
  number: 1,
  input: null,
  visit: 1,
  attempt: 1,
  taskFolder: null,
  runFolder: null,
  node: null,
  results: null,
  variables: {},
  policy: [],
  error: null,
  stuck: null,
  evaluators: [],
  evaluates: null,
} as const;

/** A turn of a script in a folder, which is not on record yet. */
export const newScriptTurn = (cwd: string, overrides: Partial<ScriptTurn> = {}): ScriptTurn => ({
  ...COMMON,
  kind: 'script',
  state: 'START.sh',
  cwd,
  attributes: {},
  record: null,
  ...overrides,
});

/** A turn of a prompt in a folder, which is on record. */
export const newClaudeTurn = (cwd: string, overrides: Partial<PromptTurn> = {}): PromptTurn => ({
  ...COMMON,
  kind: 'claude',
  state: 'START.md',
  cwd,
  prompt: { kind: 'state' },
  record: { number: 1, prompt: { kind: 'state' }, session: { kind: 'new', id: 's' }, startedAt: 0, capMicros: null },
  words: [],
  isInterrupted: false,
  isFresh: true,
  preference: { model: null, effort: null },
  sessionModel: null,
  budgetMicros: null,
  isShare: false,
  ...overrides,
});
