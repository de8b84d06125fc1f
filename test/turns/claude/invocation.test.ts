import { describe, expect, test } from 'vitest';
import { type ClaudeCall, claudeArguments, escapePrompt, renderPrompt } from '../../../src/turns/claude/invocation.ts';

const SETTINGS = {
  timeoutMs: null,
  permissionMode: null,
  allowedTools: null,
  disallowedTools: null,
  appendSystemPrompt: null,
};
const CALL: ClaudeCall = {
  session: { kind: 'new', id: 'V' },
  model: null,
  effort: null,
  permissionMode: 'acceptEdits',
  skipPermissions: false,
  budgetMicros: null,
  folders: [],
  settings: SETTINGS,
  version: null,
};
const BASE = [
  '-p',
  '--output-format',
  'stream-json',
  '--verbose',
  '--settings',
  '{"enabledPlugins":{"raymond@raymond":false}}',
];
const ACCEPT = ['--permission-mode', 'acceptEdits'];

/** What a call says beyond what every call says. */
const argumentsOf = (call: Partial<ClaudeCall>): readonly string[] => {
  const args = claudeArguments({ ...CALL, ...call });
  expect(args.slice(0, BASE.length)).toStrictEqual(BASE);
  return args.slice(BASE.length);
};

test.each<[string, ClaudeCall['session'], readonly string[]]>([
  ['opens', { kind: 'new', id: 'V' }, ['--session-id', 'V']],
  ['resumes', { kind: 'resume', id: 'X' }, ['--resume', 'X']],
  ['forks', { kind: 'fork', id: 'V', from: 'X' }, ['--resume', 'X', '--fork-session', '--session-id', 'V']],
])('a call %s the chosen conversation', (_, session, args) => {
  expect(argumentsOf({ session })).toStrictEqual([...args, ...ACCEPT]);
});

test.each<[string, Partial<ClaudeCall>, readonly string[]]>([
  ['edits only, unless told otherwise', {}, ACCEPT],
  ['what the user wants for the run', { permissionMode: 'plan' }, ['--permission-mode', 'plan']],
  ['everything, if the user wants that', { skipPermissions: true }, ['--dangerously-skip-permissions']],
  [
    'what the state says, before what the user wants',
    { permissionMode: 'auto', skipPermissions: true, settings: { ...SETTINGS, permissionMode: 'plan' } },
    ['--permission-mode', 'plan'],
  ],
])('a call permits %s', (_, call, args) => {
  expect(argumentsOf(call)).toStrictEqual(['--session-id', 'V', ...args]);
});

test('a call may work in further folders', () => {
  expect(argumentsOf({ folders: ['/t/main', '/t/shared'] })).toStrictEqual([
    '--session-id',
    'V',
    ...ACCEPT,
    '--add-dir',
    '/t/main',
    '--add-dir',
    '/t/shared',
  ]);
});

test('a call has model, effort, budget and tools', () => {
  const settings = { ...SETTINGS, allowedTools: ['Bash(git *)', 'Edit'], disallowedTools: ['WebFetch'] };
  expect(argumentsOf({ model: 'opus', effort: 'high', budgetMicros: 1_234_567, settings })).toStrictEqual([
    '--session-id',
    'V',
    '--model',
    'opus',
    '--effort',
    'high',
    ...ACCEPT,
    '--max-budget-usd',
    '1.234567',
    '--allowedTools',
    'Bash(git *),Edit',
    '--disallowedTools',
    'WebFetch',
  ]);
});

test('an empty list of tools is omitted, and the smallest budget is a micro-dollar', () => {
  const settings = { ...SETTINGS, allowedTools: [], disallowedTools: [] };
  expect(argumentsOf({ settings, budgetMicros: 0 })).toStrictEqual([
    '--session-id',
    'V',
    ...ACCEPT,
    '--max-budget-usd',
    '0.000001',
  ]);
});

describe('the addition of a state to the system prompt', () => {
  const settings = { ...SETTINGS, appendSystemPrompt: 'Be brief.' };
  const added = ['--append-system-prompt', 'Be brief.'];

  test.each<[string, ClaudeCall['version'], readonly string[]]>([
    ['is said', [2, 1, 252], added],
    [
      'is kept from sticking to the conversation, where it would',
      [2, 1, 257],
      [...added, '--system-prompt-snapshot', 'off'],
    ],
    ['is kept from sticking in later versions, too', [2, 2, 0], [...added, '--system-prompt-snapshot', 'off']],
    ['is said to a version nobody knows', null, added],
  ])('%s', (_, version, args) => {
    expect(argumentsOf({ settings, version }).slice(-args.length)).toStrictEqual(args);
  });

  test('is omitted if it is empty', () => {
    expect(argumentsOf({ settings: { ...SETTINGS, appendSystemPrompt: '' }, version: [2, 1, 325] })).toStrictEqual([
      '--session-id',
      'V',
      ...ACCEPT,
    ]);
  });
});

test.each([
  ['as it is', 'Do it. é 🜚', 'Do it. é 🜚'],
  ['after a newline if it would be taken for a command', '/clear all', '\n/clear all'],
  ['as it is if the slash does not come first', ' /clear', ' /clear'],
])('a prompt goes %s', (_, text, stdin) => {
  expect(escapePrompt(text)).toBe(stdin);
});

test.each(['', ' ', '\n\t\u00a0\n'])('a blank prompt %j is refused', (text) => {
  expect(escapePrompt(text)).toBe(null);
});

test('line ends of a prompt reach Claude Code as LF; those of values stay as they are', () => {
  const turn = { prompt: { kind: 'state' }, state: 'A.md', variables: { item: 'a\r\nb' }, words: [] } as const;
  expect(renderPrompt(turn, 'Do\r\n{{item}}\r\n')).toStrictEqual({ stdin: 'Do\na\r\nb\n', warnings: [] });
});
