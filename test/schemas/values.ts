/** Values and names that two parsers of the same rule could treat differently. */

export const TEXTS: readonly string[] = [
  ...['', ' ', '\t\n', '\uFEFF', '\0', 'a\0b', 'a', ' A.md ', '3', 'true'],
  ...['keep', 'Keep', 'goto', 'gogo', 'usage_limit', '(', '0123456789ab', '0123456789AB'],
];

export const NUMBERS: readonly number[] = [
  ...[0, 1, -1, 0.5, 255, 256, 1e9 - 1, 1e9, 2147483.647, 2147483.6479999, 2147483.648, 2 ** 53 - 1, 2 ** 53],
];

/** Values of every shape. */
export const VALUES: readonly unknown[] = [
  ...[...TEXTS, ...NUMBERS, true, false, null],
  ...[[], ['a'], [''], [3], ['('], [null], [['a']], [{}], [{ exit: 0 }], [{ fail: 'budget' }]],
  ...[{}, { a: 'b' }, { a: 1 }, { text: 'a' }, { tag: 'goto' }, { tag: null }, { answers: {} }, { raymond: {} }],
];

export const NAMES: readonly string[] = [
  ...['item', 'PATH', 'PATHS', 'HOME', 'IFS', 'ENV', 'BASH_ENV', 'NODE_OPTIONS', 'LD', 'RAYMONDX', 'MY_LD_X'],
  ...['LD_PRELOAD', 'LD_\n', 'DYLD_X', 'RAYMOND_', 'a\0', '__proto__', '<<'],
  ...['result', 'state', 'agent_id', 'workflow_id'],
  ...['input', 'return', 'stack', 'next', 'cd', 'model', 'effort', 'tag', 'target', 'text', 'budget', 'toString', ''],
  ...['a.txt', 'a/b.txt', 'a\\b', './a', 'a/./b', '..', '../a', 'a/..', 'a\\..', 'a/../b', '..a', 'a..', 'a/..b', 'a/'],
  ...['a\\', 'a/.', '.', './', '/', 'a//', 'a/b/', '../', '..\\', '.a', '/a', '\\a', 'C:a', 'c:/a', '1:a', 'aC:'],
];

/** Names of states, and some that cannot be. One without an extension does not tell what it is. */
export const STATES: readonly string[] = [
  ...['START.md', 'CHECK.sh', 'A.B.md', 'CHECK.ps1', 'OTHER.bat'],
  ...['review/START.md', 'review/CHECK.sh', 'main/review/START.md', '/START.md'],
  ...['', 'a/b.md', 'a\\b.md', 'a\0.md'],
];
