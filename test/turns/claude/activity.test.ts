import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Activity } from '../../../src/core/run/activity.ts';
import { createActivityReader, createActivityReporter } from '../../../src/turns/claude/activity.ts';
import { parseClaudeLine } from '../../../src/turns/claude/event.ts';
import { newTurnContext } from '../turn-context.ts';
import { assistant, assistantText, init, type Lines, result, synthetic } from './lines.ts';

/** What is read off these lines, one after the other. */
function activitiesIn(...lines: Lines) {
  const read = createActivityReader();
  return lines.flatMap((line) => read(parseClaudeLine(JSON.stringify(line))));
}

const use = (name: string, input: unknown, id = 't1', more = {}) =>
  assistant('m', { type: 'tool_use', id, name, input }, more);

const back = (content: unknown, more = {}, outer = {}) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content, ...more }] },
  parent_tool_use_id: null,
  ...outer,
});

describe('the subject of a tool use', () => {
  test.each<[string, unknown, string]>([
    ['Write', { content: 'x', file_path: '/w/src/app.ts' }, 'src/app.ts'],
    ['Read', { file_path: '/elsewhere/app.ts' }, '/elsewhere/app.ts'],
    ['Read', { file_path: '/w' }, '/w'],
    ['Read', { file_path: '/mnt/a' }, '/mnt/a'],
    ['Read', { file_path: '/w/..odd/a' }, '..odd/a'],
    ['Edit', { old_string: 'a', new_string: 'b', file_path: 'b.ts' }, 'b.ts'],
    ['NotebookEdit', { new_source: 'x', notebook_path: '/w/n.ipynb' }, 'n.ipynb'],
    ['Bash', { description: 'test it', command: '\n  npm test \nnpm run build' }, 'npm test'],
    ['Grep', { path: '/w/src', pattern: 'TODO' }, 'TODO'],
    ['Glob', { pattern: '**/*.ts' }, '**/*.ts'],
    ['WebFetch', { prompt: 'read it', url: 'https://a.example/b' }, 'https://a.example/b'],
    ['WebSearch', { query: 'raymond' }, 'raymond'],
    ['Task', { subagent_type: 'x', prompt: 'long', description: 'count things' }, 'count things'],
    ['Agent', { prompt: 'long', description: 'count things' }, 'count things'],
    ['mcp__db__query', { limit: 3, sql: 'select 1', note: 'n' }, 'select 1'],
    ['LS', { path: '/w/src' }, 'src'],
    ['Bash', { cmd: 'ls' }, 'ls'],
    ['TodoWrite', { todos: [{ content: 'x' }] }, ''],
    ['constructor', {}, ''],
    ['Odd', 'text', ''],
    ['Odd', null, ''],
    ['Odd', undefined, ''],
  ])('%s %j is shown as %j', (tool, input, detail) => {
    const activities = activitiesIn(init({ cwd: '/w' }), use(tool, input));
    expect(activities).toStrictEqual([{ kind: 'uses', id: 't1', tool, detail, below: false }]);
  });

  test('is an absolute path until the working directory is known', () => {
    expect(activitiesIn(use('Read', { file_path: '/w/a' }))).toMatchObject([{ detail: '/w/a' }]);
  });
});

describe('the activities of a turn', () => {
  test('are texts, tool uses and tool results, in order', () => {
    expect(
      activitiesIn(
        init(),
        assistantText('I look.\n\nThen I write.', 'm1'),
        use('Bash', { command: 'ls' }),
        back('a.txt', { is_error: false }),
        use('Read', { file_path: 'x' }),
        back([
          { type: 'text', text: 'one' },
          { type: 'image', source: {} },
          { type: 'text', text: 'two' },
        ]),
        use('Bash', { command: 'npm i' }),
        back('This command requires approval', { is_error: true }),
        { type: 'telepathy' },
        { type: 'system', subtype: 'api_retry', attempt: 2, error: 'overloaded' },
        assistantText('<goto>B</goto>', 'm2'),
        result({ result: '<goto>B</goto>' }),
      ),
    ).toStrictEqual([
      { kind: 'says', text: 'I look.\n\nThen I write.', below: false },
      { kind: 'uses', id: 't1', tool: 'Bash', detail: 'ls', below: false },
      { kind: 'gets', id: 't1', isError: false, text: 'a.txt', below: false },
      { kind: 'uses', id: 't1', tool: 'Read', detail: 'x', below: false },
      { kind: 'gets', id: 't1', isError: false, text: 'one\n[image]\ntwo', below: false },
      { kind: 'uses', id: 't1', tool: 'Bash', detail: 'npm i', below: false },
      { kind: 'gets', id: 't1', isError: true, text: 'This command requires approval', below: false },
      { kind: 'retries', attempt: 2, limit: null, delayMs: null, reason: 'overloaded' },
      { kind: 'says', text: '<goto>B</goto>', below: false },
    ]);
  });

  test('are marked if they are of sub-agents', () => {
    const below = { parent_tool_use_id: 'toolu_1' };
    const prompt = { type: 'user', message: { content: [{ type: 'text', text: 'count' }] }, ...below };
    const activities = activitiesIn(
      prompt,
      assistantText('I count', 'm', below),
      use('Bash', {}, 't1', below),
      back('3', {}, below),
    );
    expect(activities).toMatchObject([
      { kind: 'says', below: true },
      { kind: 'uses', below: true },
      { kind: 'gets', below: true },
    ]);
  });

  test('have one entry for each known block of an event', () => {
    const content = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
      { type: 'hologram' },
      'odd',
      { type: 'text', text: ' \n' },
      { type: 'text', text: 'b' },
    ];
    expect(activitiesIn({ type: 'assistant', message: { id: 'm', model: 'x', content } })).toStrictEqual([
      { kind: 'says', text: 'a', below: false },
      { kind: 'uses', id: 's', tool: 'web_search', detail: 'q', below: false },
      { kind: 'says', text: 'b', below: false },
    ]);
  });

  test.each<[string, Lines, readonly string[]]>([
    ['is said once', [assistantText('a', 'm'), result({ result: 'a' })], ['a']],
    [
      'is said once, in pieces',
      [assistantText('a', 'm'), assistantText('b', 'm'), result({ result: 'ab' })],
      ['a', 'b'],
    ],
    ['may be in the result alone', [result({ result: 'a' })], ['a']],
    ['may be another than what was said before', [assistantText('a', 'm'), result({ result: 'b' })], ['a', 'b']],
    ['is none if it is an error', [result({ result: 'API Error', is_error: true })], []],
    ['is none if it was made up', [synthetic('API Error', 'server_error')], []],
  ])('an answer %s', (_, lines, texts) => {
    expect(
      activitiesIn(...lines).map((activity) => (activity.kind === 'says' ? activity.text : activity)),
    ).toStrictEqual(texts);
  });

  test('include lines that are not events, as printed text', () => {
    expect(createActivityReader()(parseClaudeLine('Warning: beware'))).toStrictEqual([
      { kind: 'prints', text: 'Warning: beware' },
    ]);
    expect(createActivityReader()(parseClaudeLine('  '))).toStrictEqual([]);
  });

  test('can be read from any line', () => {
    const types = fc.constantFrom('system', 'assistant', 'user', 'result');
    const block = fc.oneof(fc.jsonValue(), fc.record({ type: fc.constantFrom('text', 'tool_use', 'tool_result') }));
    const content = fc.oneof(fc.array(block), fc.jsonValue());
    const line = fc.record({ type: types, message: fc.record({ content }), result: fc.jsonValue() });
    fc.assert(
      fc.property(line, (each) => {
        for (const activity of activitiesIn(each))
          if (activity.kind === 'says') expect(activity.text.trim()).not.toBe('');
      }),
    );
  });
});

describe('an observer', () => {
  test('gets texts and tools, but not the texts of sub-agents and not the results of tools', () => {
    const seen: Activity[] = [];
    const tell = createActivityReporter(newTurnContext('/', { onActivity: (activity) => seen.push(activity) }), 'main');
    const below = { parent_tool_use_id: 'toolu_1' };
    for (const line of [
      assistantText('one'),
      use('Bash', { command: 'ls' }),
      back('a'),
      use('Task', { description: 'd' }),
      assistantText('from below', 'm2', below),
      use('Grep', { pattern: 'p' }, 't2', below),
      result({ result: 'done' }),
    ]) {
      tell?.(parseClaudeLine(JSON.stringify(line)));
    }
    expect(seen.map(({ agent, doing }) => [agent, doing])).toStrictEqual([
      ['main', { kind: 'says', text: 'one' }],
      ['main', { kind: 'uses', tool: 'Bash', detail: 'ls' }],
      ['main', { kind: 'uses', tool: 'Task', detail: 'd' }],
      ['main', { kind: 'uses', tool: 'Grep', detail: 'p' }],
      ['main', { kind: 'says', text: 'done' }],
    ]);
  });

  test('of retries gets nothing else', () => {
    const seen: Activity[] = [];
    const tell = createActivityReporter(newTurnContext('/', { onRetry: (activity) => seen.push(activity) }), 'main');
    const retry = { type: 'system', subtype: 'api_retry', attempt: 3, max_retries: 10, error: 'authentication_failed' };
    const lines = [assistantText('one'), { ...retry, error_status: 401 }, { ...retry, error: 'unknown', attempt: 4 }];
    for (const line of lines) tell?.(parseClaudeLine(JSON.stringify(line)));
    expect(seen.map(({ doing }) => doing)).toStrictEqual([
      { kind: 'retries', attempt: 3, limit: 10, reason: '401 invalid key or login', untilMs: null },
      { kind: 'retries', attempt: 4, limit: 10, reason: 'no connection', untilMs: null },
    ]);
  });

  test('does not affect the turn by failing', () => {
    const tell = createActivityReporter(
      newTurnContext('/', {
        onActivity: () => {
          throw new Error('I look no more');
        },
      }),
      'main',
    );
    expect(() => tell?.(parseClaudeLine(JSON.stringify(assistantText('one'))))).not.toThrow();
  });

  test('is required for parsing activities', () => {
    expect(createActivityReporter(newTurnContext('/'), 'main')).toBe(undefined);
  });
});
