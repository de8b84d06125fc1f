import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import { SYSTEM_CLOCK } from '../../src/process/clock.ts';
import { startCommand } from '../../src/process/start.ts';
import { OpenQuestions } from '../../src/turns/open-questions.ts';
import type { TurnContext } from '../../src/turns/turn-context.ts';
import { TurnEndings } from '../../src/turns/turn-endings.ts';

/** The context of turns that all share one folder, without a run around them. */
export const newTurnContext = (folder: string, overrides: Partial<TurnContext> = {}): TurnContext => ({
  runId: 'r',
  runMarker: `r/${folder}`,
  options: DEFAULT_OPTIONS,
  startFolder: folder,
  startedAt: Date.now(),
  workflowFolders: () => [],
  workflowPlaces: () => [],
  ownFiles: { root: `${folder}/.raymond`, writable: [] },
  env: process.env,
  environmentOf: () => overrides.env ?? process.env,
  clock: SYSTEM_CLOCK,
  openQuestions: new OpenQuestions(
    { poll: () => () => false, find: async () => undefined, expire: async () => {} },
    SYSTEM_CLOCK,
  ),
  stopSignal: new AbortController().signal,
  endings: new TurnEndings(new AbortController().signal),
  onActivity: undefined,
  say: () => {},
  hear: () => {},
  warn: (_, message) => {
    throw new Error(`unexpected warning: ${message}`);
  },
  readState: () => Promise.reject(new Error('unexpected reading of a state')),
  readScope: async () => ({ files: ['START.md'], platform: 'unix' }),
  filesFolder: () => folder,
  scriptPath: () => null,
  nameWorkflows: async () => ({}),
  starter: { start: startCommand },
  isDoubtful: () => false,
  folderOf: () => folder,
  conversationsFolder: `${folder}/conversations`,
  conversationFolder: ({ agent, number }) => `${folder}/conversations/${number}-${agent}`,
  findBegunTurns: () => [],
  retry: false,
  isResumed: false,
  worktreeFolder: (agent) => `${folder}/worktrees/${agent}`,
  makeWorkFolder: async () => {},
  writeResults: async () => {},
  makeFolder: async () => folder,
  ...overrides,
});
