import { describe, expect, test } from 'vitest';
import { readForkItems } from '../../src/core/answers/answer.ts';
import { RunDriver } from './run-driver.ts';

const read = (file: string, text: string, as?: string) => readForkItems(file, text, as, 'unix');

/** The items as their variables; those with an input as a pair. */
const variablesOf = (file: string, text: string, as?: string) => {
  const items = read(file, text, as);
  return typeof items === 'string'
    ? items
    : items.map(({ variables, input }) => (input === null ? variables : [variables, input]));
};

describe('the items of a file', () => {
  test('are its lines, without blank ones and outer spaces', () => {
    expect(variablesOf('items.txt', '\uFEFFone\r\n\n  two "2" \n\t\n')).toStrictEqual([
      { item: 'one', index: '1' },
      { item: 'two "2"', index: '2' },
    ]);
  });

  test('have the name that `as` gives them', () => {
    expect(variablesOf('list', 'a', 'file')).toStrictEqual([{ file: 'a', index: '1' }]);
  });

  test('are the elements of a JSON array: fields of objects are variables', () => {
    const text = '["a", 2, null, ["x"], {"name": "b", "size": 3, "input": "read this"}]';
    expect(variablesOf('items.json', text)).toStrictEqual([
      { item: 'a', index: '1' },
      { item: '2', index: '2' },
      { item: 'null', index: '3' },
      { item: '["x"]', index: '4' },
      [{ name: 'b', size: '3', index: '5' }, 'read this'],
    ]);
  });

  test('are the lines of a file of JSON lines; `as` has all of an object', () => {
    expect(variablesOf('items.jsonl', '{"name":"a"}\n\n{"name":"b"}\n', 'all')).toStrictEqual([
      { name: 'a', index: '1', all: '{"name":"a"}' },
      { name: 'b', index: '2', all: '{"name":"b"}' },
    ]);
  });

  test.each([
    ['empty.txt', ''],
    ['empty.json', '  \n'],
    ['empty.json', '[]'],
    ['empty.ndjson', '\n'],
  ])('may be none: %s %j', (file, text) => {
    expect(read(file, text)).toStrictEqual([]);
  });

  test.each([
    ['items.json', '{"a": 1}', 'it is not a JSON array; objects that stand one per line belong in a `.jsonl` file'],
    ['items.jsonl', '{"a": 1}\n\nnot so\n', 'line 3 is not JSON: `not so`'],
    [
      'items.jsonl',
      '{"state": "open"}',
      'line 1: `state` cannot be a variable: {{state}} has a meaning of its own; use another name',
    ],
    [
      'items.json',
      '[{}, {"PATH": "x"}]',
      'element 2: `PATH` cannot be a variable: scripts would take it for something else; use another name',
    ],
    [
      'items.json',
      '[{"__proto__": "x"}]',
      'element 1: `__proto__` cannot be a variable: scripts would take it for something else; use another name',
    ],
    ['items.txt', 'a\0b', 'line 1: `item` contains a NUL character'],
  ])('cannot be read: %s %j', (file, text, problem) => {
    expect(read(file, text)).toBe(problem);
  });
});

test('items that are not JSON are told with what is wrong and where', () => {
  const elsewhere = 'items that are not JSON belong in a file with another extension, one per line';
  expect(read('items.json', '["a",\n "b" "c"]')).toMatch(/^it is not JSON \(line 2: Expected ',' or '\]'[^\n]*\); /);
  // The parser names no place here, but what it found.
  expect(read('items.json', 'a\nb')).toMatch(/^it is not JSON \([^\n]*Unexpected token '?a'?[^\n]*\); /);
  expect(read('items.json', 'a\nb')).toContain(elsewhere);
});

describe('a fork-each', () => {
  const files = ['START.sh', 'W.sh', 'NEXT.sh'];
  const start = (text: string, content: string | null, options = {}) =>
    new RunDriver({ files }, options).answer({
      text,
      files: { 'items.txt': content === null ? { problem: 'there is no such file' } : { text: content } },
    });

  test('starts a worker for each item, with the attributes of the tag', () => {
    const driver = start('<fork-each in="items.txt" team="red" next="NEXT" cd="">W</fork-each>', "a\nit's b\n");
    expect(driver.run.agents.map(({ id, state, variables }) => [id, state, variables])).toStrictEqual([
      ['main', 'NEXT.sh', {}],
      ['main_w1', 'W.sh', { item: 'a', index: '1', team: 'red' }],
      ['main_w2', 'W.sh', { item: "it's b", index: '2', team: 'red' }],
    ]);
  });

  test('stands beside forks and other fork-eachs, and one tag says where the agent continues', () => {
    const driver = start('<fork-each in="items.txt">W</fork-each><fork>W</fork><goto>NEXT</goto>', 'a\nb\n');
    expect(driver.run.agents).toHaveLength(4);
  });

  test('without items continues, with a warning', () => {
    const driver = start('<fork-each in="items.txt">W</fork-each><join>NEXT</join>', '\n');
    expect(driver.eventsOf('warning').map(({ message }) => message)).toStrictEqual([
      'START.sh found no items for <fork-each>: no worker is started',
      'there is nothing to join: it has no worker that was not joined before',
    ]);
    expect(driver.agent()).toMatchObject({ state: 'NEXT.sh', phase: { kind: 'ready' } });
  });

  test('over a file that is missing pauses the agent of a script; once the file is there, it continues', () => {
    const driver = start('<fork-each in="items.txt">W</fork-each><goto>NEXT</goto>', null);
    expect(driver.eventsOf('agent_paused')[0]?.message).toBe(
      'START.sh: its next step cannot be taken: `<fork-each>W</fork-each>` (line 1): `in` `items.txt`: there is no such file; once that is put right, a resume continues without running the script again; `resume --retry` runs it again',
    );
  });

  test('with more items than `max_forks` starts nothing', () => {
    const items = 'x\n'.repeat(100_000);
    const driver = start('<fork-each in="items.txt">W</fork-each><goto>NEXT</goto>', items);
    expect(driver.eventsOf('agent_paused')[0]?.message).toContain(
      'it starts 100000 workers, and one answer may start at most 1000 (`max_forks`); `resume` with a higher `--max-forks` continues without running the script again',
    );
    expect(driver.run.agents).toHaveLength(1);
  });

  test('starts as many workers as `max_forks` permits', () => {
    const items = 'x\n'.repeat(5_000);
    const driver = start('<fork-each in="items.txt">W</fork-each><goto>NEXT</goto>', items, { maxForks: null });
    expect(driver.run.agents).toHaveLength(5_001);
  });
});
