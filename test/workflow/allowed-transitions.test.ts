import { describe, expect, test } from 'vitest';
import { TAG_NAMES } from '../../src/language/transitions/index.ts';
import { parsePrompt } from '../../src/workflow/prompt-file.ts';

const read = (entries: string) => parsePrompt('A.md', `---\nallowed_transitions:\n${entries}\n---\n`, 'unix');
const policy = (entries: string) => read(entries).frontmatter.policy;
const messagesOf = (entries: string) =>
  read(entries).findings.map((each) => `${each.level} ${each.line}:${each.column} ${each.message}`);

const TAGS = TAG_NAMES.join(', ');

describe('entries', () => {
  test('may be written in both forms of YAML', () => {
    const flow = policy('  - { tag: call, target: A.md, return: B.md }\n  - { tag: result }');
    const block = policy('  - tag: call\n    target: A.md\n    return: B.md\n  - tag: result');
    expect(flow).toStrictEqual([
      { tag: 'call', target: 'A.md', attributes: { return: 'B.md' } },
      { tag: 'result', target: null, attributes: {} },
    ]);
    expect(block).toStrictEqual(flow);
  });

  test.each(['  []', '  ~', ''])('%j is no policy', (entries) => {
    expect([policy(entries), messagesOf(entries)]).toStrictEqual([[], []]);
  });

  test.each([
    ['{ tag: GOTO, Target: B }', { tag: 'goto', target: 'B', attributes: {} }],
    ['{ tag: goto }', { tag: 'goto', target: null, attributes: {} }],
    ['{ tag: goto, target: }', { tag: 'goto', target: null, attributes: {} }],
    ['{ tag: goto, target: " B.md " }', { tag: 'goto', target: 'B.md', attributes: {} }],
    ['{ tag: goto, target: 007 }', { tag: 'goto', target: '007', attributes: {} }],
    [
      '{ tag: reset, target: B, stack: clear, cd: ../x }',
      { tag: 'reset', target: 'B', attributes: { stack: 'clear', cd: '../x' } },
    ],
    [
      '{ tag: fork, NEXT: C, item: 1.50, Deep: True }',
      { tag: 'fork', target: null, attributes: { next: 'C', item: '1.50', Deep: 'True' } },
    ],
    ['{ tag: fork, target: B, item: ~ }', { tag: 'fork', target: 'B', attributes: {} }],
    ['{ tag: fork, target: B, item: "" }', { tag: 'fork', target: 'B', attributes: { item: '' } }],
    [
      '{ tag: call, target: B, return: C, model: Opus }',
      { tag: 'call', target: 'B', attributes: { return: 'C', model: 'Opus' } },
    ],
  ])('%s', (entry, expected) => {
    expect(messagesOf(`  - ${entry}`)).toStrictEqual([]);
    expect(policy(`  - ${entry}`)).toStrictEqual([expected]);
  });

  test('an alias may repeat an entry', () => {
    expect(policy('  - &a { tag: goto, target: B }\n  - *a')).toHaveLength(2);
  });

  test('the states they name have positions', () => {
    expect(read('  - tag: fork\n    target: B\n    next: C\n    return_to: D').frontmatter.entries).toStrictEqual([
      {
        at: { line: 3, column: 5 },
        keys: {
          tag: { line: 3, column: 10 },
          target: { line: 4, column: 13 },
          next: { line: 5, column: 11 },
          return_to: { line: 6, column: 16 },
        },
      },
    ]);
  });
});

describe('an invalid entry', () => {
  test.each([
    ['{ tag: gotoo, target: B }', `error 3:12 there is no tag \`gotoo\` (did you mean goto?); the tags are ${TAGS}`],
    ['{ tag: 5 }', `error 3:12 there is no tag \`5\`; the tags are ${TAGS}`],
    ['{ tag: [goto] }', 'error 3:12 `tag` must be a single value, not a list'],
    ['{ target: B }', `error 3:5 this entry has no \`tag\`: say which transition it permits (${TAGS})`],
    ['{tag:goto, target: B}', 'error 3:5 this entry has no `tag`: write a space after the colon, as in `tag: goto`'],
    ['{ target: B, tag: }', `error 3:18 this entry has no \`tag\`: say which transition it permits (${TAGS})`],
    [
      'goto',
      'error 3:5 an entry of `allowed_transitions` must be a mapping such as `{ tag: goto, target: NEXT.md }`, not the text `goto`',
    ],
    [
      '~',
      'error 3:5 an entry of `allowed_transitions` must be a mapping such as `{ tag: goto, target: NEXT.md }`, not nothing',
    ],
    ['{ tag: result, target: B }', 'error 3:20 <result> takes no `target`, it returns to the caller: remove it'],
    ['{ tag: goto, target: [B] }', 'error 3:26 `target` must be a single value, not a list'],
    ['{ tag: goto, target: "" }', 'error 3:26 `target` is empty: give it a value, or leave it out to permit any'],
    [
      '{ tag: goto, return: B }',
      'error 3:18 `return` has no meaning on <goto> (it takes input, input-file): no answer could match; remove it',
    ],
    [
      '{ tag: result, Model: opus }',
      'error 3:20 `model` has no meaning on <result> (it takes no attributes): no answer could match; remove it',
    ],
    ['{ tag: reset, stack: drop }', 'error 3:26 `stack` can be `clear` or `keep`, not `drop`'],
    ['{ tag: fork, item: {a: b} }', 'error 3:24 `item` must be a single value, not a mapping'],
    ['{ tag: fork, item: "\\0" }', 'error 3:24 `item` contains a NUL character: remove it'],
    [
      '{ tag: fork, PATH: /bin }',
      'error 3:18 `PATH` cannot be a variable: scripts would take it for something else; use another name',
    ],
    [
      '{ tag: fork, __proto__: x }',
      'error 3:18 `__proto__` cannot be a variable: scripts would take it for something else; use another name',
    ],
    ['{ tag: fork, next: A, Next: B }', 'error 3:27 `Next` is given twice: on line 3 and here; keep one of them'],
    ['{ <<: { tag: goto }, tag: goto }', 'error 3:7 merge keys (`<<`) are not supported: write the keys out'],
  ])('%s', (entry, message) => {
    expect(messagesOf(`  - ${entry}`)).toStrictEqual([message]);
  });

  test.each([
    ['  { tag: goto }', 'a mapping'],
    ['  goto', 'the text `goto`'],
  ])('the value must be a list: %j', (value, found) => {
    expect(messagesOf(value)).toStrictEqual([
      `error 3:3 \`allowed_transitions\` must be a list of entries such as \`{ tag: goto, target: NEXT.md }\`, not ${found}`,
    ]);
  });

  test.each([
    ['{ tag: goto, taget: B }', '3:18 `taget` means nothing on <goto> and is ignored (did you mean target?)'],
    ['{ tag: call, retrun: B }', '3:18 `retrun` means nothing on <call> and is ignored (did you mean return?)'],
    ['{ tag: goto, target: B, payload: x }', '3:29 `payload` means nothing on <goto> and is ignored'],
  ])('a meaningless key is ignored with a warning: %s', (entry, message) => {
    expect(messagesOf(`  - ${entry}`)).toStrictEqual([`warning ${message}`]);
    expect(policy(`  - ${entry}`)[0]?.attributes).toStrictEqual({});
  });
});
