import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EMPTY_FRONTMATTER } from '../../src/workflow/frontmatter-keys.ts';
import { parsePrompt } from '../../src/workflow/prompt-file.ts';

const read = (text: string) => parsePrompt('A.md', text, 'unix');
const keys = (yaml: string) => read(`---\n${yaml}\n---\nbody`);

/** The findings as an author sees them. */
const messagesOf = (text: string): readonly string[] =>
  read(text).findings.map((each) => `${each.level} ${each.line}:${each.column} ${each.message}`);

const messagesOfYaml = (yaml: string): readonly string[] => messagesOf(`---\n${yaml}\n---\nbody`);

describe('the fences', () => {
  test.each([
    ['no frontmatter is no frontmatter', 'Do it.\n', null, 'Do it.\n'],
    ['an empty file is an empty prompt', '', null, ''],
    ['a block ends at the next fence', '---\nmodel: opus\n---\nDo it.\n---\nmore\n', 'opus', 'Do it.\n---\nmore\n'],
    ['a byte order mark is not text', '\uFEFFDo it.', null, 'Do it.'],
    ['a byte order mark may precede the block', '\uFEFF---\nmodel: opus\n---\nDo it.', 'opus', 'Do it.'],
    ['line ends may be CRLF, and stay so in the body', '---\r\nmodel: opus\r\n---\r\nDo\r\nit.', 'opus', 'Do\r\nit.'],
    ['blanks may follow the fences', '---  \nmodel: opus\n---\t \nDo it.', 'opus', 'Do it.'],
    ['an empty block is an empty block', '---\n---\nDo it.', null, 'Do it.'],
    ['a block may hold nothing but a comment', '---\n# later\n---\nDo it.', null, 'Do it.'],
    ['a block may hold nothing but blank lines', '---\n\n  \n---\nDo it.', null, 'Do it.'],
    ['the closing fence may end the file', '---\nmodel: opus\n---', 'opus', ''],
    ['a fence after the first line opens nothing', '\n---\nmodel: opus\n---\n', null, '\n---\nmodel: opus\n---\n'],
    ['four dashes are no fence', '----\nDo it.', null, '----\nDo it.'],
    ['an indented fence closes nothing', '---\ndescription: |\n  ---\nmodel: opus\n---\n', 'opus', ''],
  ])('%s', (_, text, model, body) => {
    const prompt = read(text);
    expect([prompt.frontmatter.model, prompt.body, prompt.findings]).toStrictEqual([model, body, []]);
  });

  test.each(['---', '---\n', '---\nmodel: opus\n', '---\r\nmodel: opus\r\n ---\r\n'])(
    'an unclosed block is an error with a hint: %j',
    (text) => {
      expect(messagesOf(text)).toStrictEqual([
        'error 1:1 the frontmatter that this `---` opens is never closed: put a line `---` after its last key; if it is meant as a horizontal rule, put an empty line before it',
      ]);
    },
  );
});

describe('the keys', () => {
  test('every key is read', () => {
    const yaml = `
allowed_transitions: [{ tag: goto, target: B.md }]
model: Opus
effort: HIGH
timeout: 1.5
max_visits: 3
permission_mode: plan
sandbox: true
allowed_tools: [Read, "Bash(git *)"]
disallowed_tools: Write
append_system_prompt: |
  Be brief.
  Be kind.
description: The start`;
    expect(keys(yaml).findings).toStrictEqual([]);
    expect(keys(yaml).frontmatter).toStrictEqual({
      policy: [{ tag: 'goto', target: 'B.md', attributes: {} }],
      writtenSchema: null,
      forceImplicit: false,
      repeatable: false,
      sandbox: true,
      retry: null,
      on: {},
      maxVisitsPer: null,
      stuckAfter: null,
      stuckFiles: null,
      evaluators: [],
      evaluatorPositions: [],
      entries: [
        { at: { line: 3, column: 23 }, keys: { tag: { line: 3, column: 30 }, target: { line: 3, column: 44 } } },
      ],
      model: 'opus',
      effort: 'high',
      timeoutMs: 1500,
      maxVisits: 3,
      permissionMode: 'plan',
      allowedTools: ['Read', 'Bash(git *)'],
      disallowedTools: ['Write'],
      appendSystemPrompt: 'Be brief.\nBe kind.\n',
      description: 'The start',
    });
  });

  test('a key without a value is not given', () => {
    const names = Object.keys(EMPTY_FRONTMATTER).length;
    const yaml = `allowed_transitions:\nmodel: ~\neffort: null\ntimeout:\nmax_visits:\npermission_mode:
allowed_tools:\ndisallowed_tools:\nappend_system_prompt:\nevaluator:\nforce_implicit:\ndescription:\nretry:\non:\nmax_visits_per:\nstuck_after:\nstuck_files:\nresult_schema:`;
    expect(names).toBe(22);
    expect(keys(yaml)).toMatchObject({ frontmatter: EMPTY_FRONTMATTER, body: 'body', findings: [] });
  });

  test('a full model id is kept as written', () => {
    expect(keys('model: Claude-X-5').frontmatter.model).toBe('Claude-X-5');
  });

  test.each([
    ['0', 0],
    ['0.0001', 1],
    ['1.1', 1100],
    ['900', 900_000],
    ['2147483', 2_147_483_000],
  ])('a timeout of %s seconds is %d ms', (seconds, ms) => {
    expect(keys(`timeout: ${seconds}`).frontmatter.timeoutMs).toBe(ms);
  });

  test.each([
    ...['true', 'True', 'TRUE', 'yes', 'Yes', 'on', 'ON', 'y', '"true"', "'yes'"].map((word) => [word, true] as const),
    ...['false', 'no', 'NO', 'off', 'n', '"false"'].map((word) => [word, false] as const),
  ])('a boolean may be written %s', (word, expected) => {
    const { frontmatter, findings } = keys(`allowed_transitions: [{ tag: goto, target: A }]\nforce_implicit: ${word}`);
    expect([frontmatter.forceImplicit, findings]).toStrictEqual([expected, []]);
  });

  test('block texts do not keep the carriage returns of the file', () => {
    const { frontmatter } = read('---\r\nappend_system_prompt: |\r\n  a\r\n  b\r\n---\r\n');
    expect(frontmatter.appendSystemPrompt).toBe('a\nb\n');
  });
});

describe('an invalid value', () => {
  test.each([
    ['force_implicit: maybe', 'error 2:17 `force_implicit` must be true or false, not the text `maybe`'],
    [
      'backend: pi',
      'error 2:10 `backend`: Raymond has no backend `pi`, only `claude`: remove the key to run on Claude Code',
    ],
    ['model: 5', 'error 2:8 `model` must be a text, not the number `5`; put it in quotes if it is meant as text'],
    ['model: [opus]', 'error 2:8 `model` must be a text, not a list'],
    ['model: " "', 'error 2:8 `model` is empty: give it a value or remove it'],
    ['effort: yes\nmodel: {a: b}', 'error 3:8 `model` must be a text, not a mapping'],
    [
      'timeout: 30x',
      'error 2:10 `timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the text `30x`',
    ],
    [
      'timeout: -1',
      'error 2:10 `timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the number `-1`',
    ],
    [
      'timeout: .inf',
      'error 2:10 `timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the number `.inf`',
    ],
    [
      'timeout: .nan',
      'error 2:10 `timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the number `.nan`',
    ],
    [
      'timeout: 1e9',
      'error 2:10 `timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the number `1e9`',
    ],
    ['max_visits: 0', 'error 2:13 `max_visits` must be a whole number of at least 1, not the number `0`'],
    ['max_visits: 1.5', 'error 2:13 `max_visits` must be a whole number of at least 1, not the number `1.5`'],
    ['max_visits: true', 'error 2:13 `max_visits` must be a whole number of at least 1, not `true`'],
    [
      'permission_mode: true',
      'error 2:18 `permission_mode` must be a text, not `true`; put it in quotes if it is meant as text',
    ],
    ['allowed_tools: {a: b}', 'error 2:16 `allowed_tools` must be a text or a list of texts, not a mapping'],
    [
      'allowed_tools:\n  - Read\n  - 5',
      'error 4:5 `allowed_tools` must be a text or a list of texts, not the number `5`; put it in quotes if it is meant as text',
    ],
    ['allowed_tools: [""]', 'error 2:17 `allowed_tools` is empty: give it a value or remove it'],
    ['allowed_tools: [~]', 'error 2:17 `allowed_tools` must be a text or a list of texts, not nothing'],
    ['append_system_prompt: "a\\0b"', 'error 2:23 `append_system_prompt` contains a NUL character: remove it'],
    ['description: [a]', 'error 2:14 `description` must be a text, not a list'],
    ['[1, 2]: x', 'error 2:1 a key must be a word, not a list'],
    ['~: x', 'error 2:1 a key must be a word, not nothing'],
    ['<<: { model: opus }', 'error 2:1 merge keys (`<<`) are not supported: write the keys out'],
    ['model: opus\n\nmodel: sonnet', 'error 4:1 `model` is given twice: on line 2 and here; keep one of them'],
    ['- model: opus', 'error 2:1 frontmatter is made of keys and values, such as `model: sonnet`, not a list'],
    [
      '\nmodel:opus',
      'error 3:1 frontmatter is made of keys and values, such as `model: sonnet`, not the text `model:opus`',
    ],
  ])('%j', (yaml, message) => {
    expect(messagesOfYaml(yaml)).toStrictEqual([message]);
  });

  test('a long value is quoted in part and on one line', () => {
    expect(messagesOfYaml(`timeout: "a\\n${'b'.repeat(100)}"`)).toStrictEqual([
      `error 2:10 \`timeout\` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the text \`a\\n${'b'.repeat(58)}…\``,
    ]);
  });
});

describe('a warning for the author', () => {
  test.each([
    ['modle: opus', 'warning 2:1 the key `modle` is unknown and has no effect (did you mean model?)'],
    ['Model: opus', 'warning 2:1 the key `Model` is unknown and has no effect (did you mean model?)'],
    ['tools: Read', 'warning 2:1 the key `tools` is unknown and has no effect (did you mean allowed_tools?)'],
    ['author: me', 'warning 2:1 the key `author` is unknown and has no effect'],
    ['__proto__: { model: opus }', 'warning 2:1 the key `__proto__` is unknown and has no effect'],
    ['constructor: x', 'warning 2:1 the key `constructor` is unknown and has no effect'],
    ['5: x', 'warning 2:1 the key `5` is unknown and has no effect'],
    ['model: !foo opus', 'warning 2:8 YAML: Unresolved tag: !foo'],
  ])('%j', (yaml, message) => {
    expect(messagesOfYaml(yaml)).toStrictEqual([message]);
  });

  test('keys of either kind are checked', () => {
    expect(messagesOfYaml('force_implicit: ja\nevaluator: 5')).toStrictEqual([
      'error 2:17 `force_implicit` must be true or false, not the text `ja`',
      expect.stringMatching(/^error 3:12 an entry of `evaluator` must be `\{ match: .*, not the number `5`$/),
    ]);
  });

  test('all problems of a file are reported together', () => {
    expect(
      messagesOfYaml('model: 1\nefort: low\ntimeout: x\nmodel: 2\nallowed_transitions: [{ tag: go }]'),
    ).toHaveLength(5);
  });
});

describe('YAML itself', () => {
  test.each([
    [
      'description: a: b',
      '2:14 this is not valid YAML: a value that contains a colon and a space must be in quotes, or under `|`',
    ],
    [
      'model: opus\n\teffort: low',
      '3:1 this is not valid YAML: use spaces here, not a tab: YAML does not allow tabs as indentation',
    ],
    ['model: @x', '2:8 this is not valid YAML: plain value cannot start with reserved character @'],
    ['model: "x', '2:8 this is not valid YAML: this `"` is never closed: add its `"`'],
    [
      "effort: low\nmodel: 'opus\ntimeout: 5\ndescription: x",
      "3:8 this is not valid YAML: this `'` is never closed: add its `'`",
    ],
    [
      'allowed_transitions:\n  - { tag: goto, target: A.md\n  - { tag: result }\nmodel: opus',
      '3:5 this is not valid YAML: this `{` is never closed: add its `}`; if that is on a later line, indent the line',
    ],
    [
      'model: opus\nallowed_tools: [Read,\nWrite]\neffort: low',
      '3:16 this is not valid YAML: this `[` is never closed: add its `]`; if that is on a later line, indent the line',
    ],
    [
      'allowed_transitions: [{ tag: result ]\nmodel: opus',
      '2:23 this is not valid YAML: this `{` is never closed: add its `}`; if that is on a later line, indent the line',
    ],
    [
      "description: 'it's fine'",
      '2:18 this is not valid YAML: this follows the end of a value: put quotes around the whole value, and double each quote inside it',
    ],
    [
      'allowed_transitions:\n  - tag: goto\n   target: A.md',
      '4:1 this is not valid YAML: this belongs to no entry of the list: indent it as far as the first key of its entry, or begin it with `- `',
    ],
    ['model: opus\neffort low', '3:1 this is not valid YAML: there is no colon after this key: write `effort:`'],
    ['allowed_tools: [Read]]', '2:22 this is not valid YAML: this bracket was never opened'],
    ['model: {x: "y}\neffort: low', '2:12 this is not valid YAML: this `"` is never closed: add its `"`'],
    [
      'model: opus\n...\neffort: low',
      '4:1 this is not valid YAML: this is a second YAML document: keep all keys in one, without `...` or `---` between them',
    ],
    ['model: *none', '2:8 `*none` cannot be used here: nothing before this is marked `&none`'],
    ['a: *b\nc: &b x', '2:4 `*b` cannot be used here: nothing before this is marked `&b`'],
  ])('%j', (yaml, message) => {
    expect(messagesOfYaml(yaml)).toStrictEqual([`error ${message}`]);
  });

  test('positions are right in a file with a byte order mark and CRLF', () => {
    expect(messagesOf('\uFEFF---\r\nmodel: opus\r\n  \r\ntimeout: x\r\n---\r\n')[0]).toMatch(/^error 4:10 /);
  });

  test('an alias has the value of its anchor, and its own position in errors', () => {
    expect(keys('description: &d text\nmodel: *d').frontmatter.model).toBe('text');
    expect(messagesOfYaml('allowed_tools: &t [Read]\nmodel: *t')).toStrictEqual([
      'error 3:8 `model` must be a text, not a list',
    ]);
  });

  test('an alias may not make a value endless', () => {
    expect(messagesOfYaml('allowed_tools: &t [*t]')).toStrictEqual([
      'error 2:20 `*t` cannot be used here: it would contain itself',
    ]);
  });

  test('a bomb of aliases is refused', () => {
    const laughs = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}, *l${i}]`);
    const yaml = ['l0: &l0 [x]', ...laughs, 'allowed_tools: *l30'].join('\n');
    expect(messagesOfYaml(yaml)).toStrictEqual([
      'error 8:15 there are more than 1000 aliases (`*name`): write the values out',
    ]);
  });

  test('very many aliases are refused', () => {
    const aliases = (n: number) => `x: &x Read\nallowed_tools: [${Array(n).fill('*x').join(', ')}]`;
    expect(keys(aliases(1000)).frontmatter.allowedTools).toHaveLength(1000);
    expect(messagesOfYaml(aliases(1001))).toStrictEqual([
      'error 3:4017 there are more than 1000 aliases (`*name`): write the values out',
    ]);
  });

  test('very deep nesting is refused', () => {
    expect(messagesOfYaml(`model: ${'['.repeat(20_000)}`)[0]).toMatch(
      /^error 2:\d+ this is not valid YAML: this is nested too deeply$/,
    );
  });

  test('thousands of unknown keys are each reported', () => {
    const yaml = Array.from({ length: 5000 }, (_, i) => `key_${i}: ${i}`).join('\n');
    expect(messagesOfYaml(yaml)).toHaveLength(5000);
  });
});

describe('for any text', () => {
  const finding = (text: string) => {
    const prompt = read(text);
    const lines = text.split('\n').length + 1;
    for (const { line, column, message } of prompt.findings) {
      expect(line >= 1 && line <= lines && column >= 1 && !message.includes('\n')).toBe(true);
    }
  };

  test('reading never throws, and every finding has a place in the file and a message of one line', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), finding));
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (yaml) => finding(`---\n${yaml}\n---\n`)));
  });

  test('not even for text that looks much like frontmatter', () => {
    const word = fc.constantFrom(
      'model',
      'timeout',
      'allowed_transitions',
      'tag',
      'goto',
      'fork',
      'target',
      '__proto__',
      '<<',
      '&a',
      '*a',
      ':',
      ': ',
      '- ',
      '\n',
      '\n  ',
      '\n    ',
      '[',
      ']',
      '{',
      '}',
      ', ',
      '"',
      "'",
      '|',
      '>',
      '!t',
      '? ',
      '#',
      '\t',
      '~',
      '5',
      '.nan',
      'true',
      '\\',
      '%',
      '---',
      '...',
      '\r\n',
      '\0',
    );
    const yaml = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
    fc.assert(
      fc.property(yaml, (block) => finding(`---\n${block}\n---\n`)),
      { numRuns: 2000 },
    );
  });

  test('the body is what follows the block, to the last character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (body) => {
        expect(read(`---\nmodel: opus\n---\n${body}`).body).toBe(body);
      }),
    );
  });
});
