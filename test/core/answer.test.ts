import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnswerContext, interpretAnswer } from '../../src/core/answers/answer.ts';
import { fileInWorkflow, workflowNameOf } from '../../src/language/named-workflows.ts';
import type { PolicyEntry } from '../../src/language/policy.ts';
import type { AnswerProblemKind } from '../../src/language/problem.ts';
import { findNamedFolders, type ResolvedTag } from '../../src/language/tags/permitted-tags.ts';
import { isWorkflowTag, startsWorkers, TAG_NAMES, TRANSITIONS } from '../../src/language/transitions/index.ts';
import { anyText, contextOf, entryOf, goOf, payloadEntry, SCOPE, scopeOf } from './builders.ts';

type ExactTag = Omit<ResolvedTag, 'written'>;
type Decision = ReturnType<typeof decide>;

/** What an answer comes to, without the words of its tags. */
function decide(text: string, context: AnswerContext) {
  const decision = interpretAnswer(text, context);
  if (decision.kind === 'wrong') return decision;
  return { ...decision, tags: exactOf(decision.tags) };
}

const exactOf = (tags: readonly ResolvedTag[]): readonly ExactTag[] =>
  tags.map(({ written: _written, ...exact }) => exact);

const go = (tags: readonly ExactTag[], warnings: readonly string[] = []): Decision => ({
  kind: 'go',
  tags: tags,
  implicit: false,
  warnings,
});
const wrong = (kind: AnswerProblemKind, message: string): Decision => ({ kind: 'wrong', problem: { kind, message } });
const GOTO_A: ExactTag = { tag: 'goto', target: goOf('A.md') };

describe('an answer with one tag', () => {
  test.each<[string, ExactTag]>([
    ['<goto>A.md</goto>', GOTO_A],
    ['<goto> A </goto>', GOTO_A],
    ['<GOTO>RUN</GOTO>', { tag: 'goto', target: goOf('RUN.sh') }],
    ['<goto input=" a & b ">A</goto>', { tag: 'goto', target: goOf('A.md', { input: ' a & b ' }) }],
    ['<goto input="">A</goto>', { tag: 'goto', target: goOf('A.md', { input: '' }) }],
    ['<reset>A</reset>', { tag: 'reset', target: goOf('A.md') }],
    ['<reset cd="sub" input=x>A</reset>', { tag: 'reset', target: goOf('A.md', { cd: '/w/sub', input: 'x' }) }],
    ['<reset stack="clear">A</reset>', { tag: 'reset', target: goOf('A.md', { stack: 'clear' }) }],
    ['<reset stack="keep">A</reset>', { tag: 'reset', target: goOf('A.md') }],
    ['<call return="R">A</call>', { tag: 'call', target: goOf('A.md', { return: 'R.md' }) }],
    ['<call RETURN=" R.md ">A</call>', { tag: 'call', target: goOf('A.md', { return: 'R.md' }) }],
    [
      '<call return=R model="Opus" effort="HIGH" input="i">A</call>',
      { tag: 'call', target: goOf('A.md', { return: 'R.md', model: 'opus', effort: 'high', input: 'i' }) },
    ],
    [
      '<function return="RUN" model="Claude-X">A</function>',
      { tag: 'function', target: goOf('A.md', { return: 'RUN.sh', model: 'Claude-X' }) },
    ],
    [
      '<fork next="N" item="x" Item="y" cd=sub model=HAIKU effort=Low input=i>W</fork>',
      {
        tag: 'fork',
        target: goOf('W.md', {
          next: 'N.md',
          cd: '/w/sub',
          model: 'haiku',
          effort: 'low',
          input: 'i',
          variables: { item: 'x', Item: 'y' },
        }),
      },
    ],
    ['<result>done</result>', { tag: 'result', target: goOf('done') }],
    ['<result>\n a/b\\c \n\n</result>', { tag: 'result', target: goOf('a/b\\c') }],
    ['<result></result>', { tag: 'result', target: goOf('') }],
    ['<result/>', { tag: 'result', target: goOf('') }],
    ['<result><goto>A</goto></result>', { tag: 'result', target: goOf('<goto>A</goto>') }],
  ])('follows its tag: %s', (text, tag) => {
    expect(decide(`Done.\n${text}\nBye.`, contextOf())).toStrictEqual(go([tag]));
  });

  test('clears the stack on a reset without `stack` if that is the default of the run', () => {
    const cleared = contextOf({ resetStack: 'clear' });
    const stackOf = (text: string) => {
      const decision = decide(text, cleared);
      return decision.kind === 'go' && decision.tags[0]?.target.stack;
    };
    expect(stackOf('<reset>A</reset>')).toBe('clear');
    expect(stackOf('<reset stack=keep>A</reset>')).toBe('keep');
  });
});

describe('identical tags', () => {
  test.each([
    ['written the same', '<goto>A</goto> and again <goto>A</goto>'],
    ['written with other blanks and letters', '<goto>A</goto> <GOTO >\nA </goto >'],
    ['three of them', '<goto>A</goto><goto>A</goto><goto>A</goto>'],
  ])('are one: %s', (_, text) => {
    expect(decide(text, contextOf())).toStrictEqual(go([GOTO_A]));
  });

  test('are one if only the order of their attributes differs', () => {
    expect(
      decide(`<call return=R model=opus>A</call><call model='opus' Return="R">A</call>`, contextOf()),
    ).toStrictEqual(go([{ tag: 'call', target: goOf('A.md', { return: 'R.md', model: 'opus' }) }]));
  });

  test('are one when they are results with the same payload', () => {
    expect(decide('<result>x</result>\n<result> x </result>', contextOf())).toStrictEqual(
      go([{ tag: 'result', target: goOf('x') }]),
    );
  });

  test('are two workers when they are forks', () => {
    const fork: ExactTag = { tag: 'fork', target: goOf('W.md', { next: 'N.md' }) };
    expect(decide('<fork next="N">W</fork><fork next="N">W</fork>', contextOf())).toStrictEqual(go([fork, fork]));
  });
});

describe('several forks', () => {
  const fork = (item: string, next: string): ExactTag => ({
    tag: 'fork',
    target: goOf('W.md', { next, variables: { item } }),
  });

  test.each<[string, string, readonly ExactTag[]]>([
    [
      'all saying the same next',
      '<fork next="N" item="1">W</fork><fork next="N" item="2">W</fork>',
      [fork('1', 'N.md'), fork('2', 'N.md')],
    ],
    [
      'saying the same next in different words',
      '<fork next="N" item="1">W</fork><fork next=" N.md " item="2">W</fork>',
      [fork('1', 'N.md'), fork('2', 'N.md')],
    ],
    [
      'only one of them saying it',
      '<fork item="1">W</fork><fork next="N" item="2">W</fork>',
      [fork('1', 'N.md'), fork('2', 'N.md')],
    ],
    [
      'and a goto',
      '<fork item="1">W</fork><fork item="2">W</fork><goto>A</goto>',
      [fork('1', 'A.md'), fork('2', 'A.md'), GOTO_A],
    ],
    ['and a goto before them', '<goto>A</goto><fork item="1">W</fork>', [fork('1', 'A.md'), GOTO_A]],
    ['and the same goto twice', '<goto>A</goto><fork item="1">W</fork><goto>A</goto>', [fork('1', 'A.md'), GOTO_A]],
    [
      'and a goto that agrees with their next',
      '<fork item="1" next="A.md">W</fork><goto input="go">A</goto>',
      [fork('1', 'A.md'), { tag: 'goto', target: goOf('A.md', { input: 'go' }) }],
    ],
  ])('continue together: %s', (_, text, tags) => {
    expect(decide(text, contextOf())).toStrictEqual(go(tags));
  });

  const DISAGREE = 'the forks do not agree on where their parent continues:';

  test.each<[string, string, Decision]>([
    [
      'that do not agree',
      '<fork next="N">W</fork><fork next="B">W</fork>',
      wrong('several_tags', `${DISAGREE} \`N\` or \`B\``),
    ],
    [
      'that do not agree with the goto',
      '<fork next="N">W</fork><goto>A</goto>',
      wrong('several_tags', `${DISAGREE} \`N\` or \`A\``),
    ],
    [
      'with two gotos',
      '<fork>W</fork>\n<goto>A</goto>\n<goto>B</goto>',
      wrong(
        'several_tags',
        'found 3 tags: `<fork>W</fork>` (line 1), `<goto>A</goto>` (line 2) and `<goto>B</goto>` (line 3)',
      ),
    ],
    [
      'with a reset',
      '<fork next="N">W</fork><reset>A</reset>',
      wrong('several_tags', 'found 2 tags: `<fork next="N">W</fork>` (line 1) and `<reset>A</reset>` (line 1)'),
    ],
    [
      'with a result',
      '<fork next="N">W</fork>\n<result>x</result>',
      wrong('several_tags', 'found 2 tags: `<fork next="N">W</fork>` (line 1) and `<result>` (line 2)'),
    ],
    [
      'that nobody says how to continue from',
      '<fork>W</fork><fork>W</fork>',
      wrong('missing_attribute', '`<fork>W</fork>` (line 1): `next="STATE"` is missing'),
    ],
    [
      'one of which goes nowhere',
      '<fork next="N">W</fork>\n<fork>X</fork>',
      wrong('bad_state', '`<fork>X</fork>` (line 2): there is no state `X` in this workflow'),
    ],
    [
      'with a goto that goes nowhere',
      '<fork>W</fork>\n<goto>X</goto>',
      wrong('bad_state', '`<fork>W</fork>` (line 1): `next`: there is no state `X` in this workflow'),
    ],
  ])('are refused: forks %s', (_, text, decision) => {
    expect(decide(text, contextOf())).toStrictEqual(decision);
  });

  test('are each checked against the policy', () => {
    const policy = [entryOf('fork', 'W', { next: 'N' }), entryOf('goto', 'N')];
    expect(decide('<fork>W</fork><fork>W</fork><goto>N</goto>', contextOf({ policy })).kind).toBe('go');
    expect(decide('<fork next=N>W</fork>\n<fork>A</fork>', contextOf({ policy }))).toStrictEqual(
      wrong('not_permitted', '`<fork next="N">A</fork>` (line 2) is not permitted here'),
    );
    expect(decide('<fork next=N>W</fork>\n<goto>N</goto>', contextOf({ policy: policy.slice(0, 1) }))).toStrictEqual(
      wrong('not_permitted', '`<goto>N</goto>` (line 2) is not permitted here'),
    );
  });
});

describe('a protocol error', () => {
  test.each<[string, string, AnswerProblemKind, string]>([
    ['no tag', 'All done.', 'no_tag', 'it contains no tag'],
    ['no text', '', 'no_tag', 'it contains no tag'],
    ['a tag only in a comment', '<!-- <goto>A</goto> -->', 'no_tag', 'it contains no tag'],
    ['a tag of no language', '<jump>A</jump>', 'no_tag', 'it contains no tag'],
    [
      'two tags',
      'a\nb\n<goto>A.md</goto>\n\n\n\n\n\n<result>x</result>',
      'several_tags',
      'found 2 tags: `<goto>A.md</goto>` (line 3) and `<result>` (line 9)',
    ],
    [
      'two different results',
      '<result>x</result>\n<result>y</result>',
      'several_tags',
      'found 2 tags: `<result>` (line 1) and `<result>` (line 2)',
    ],
    [
      'two tags that differ only in an attribute',
      '<goto>A</goto>\n<goto input="x">A</goto>',
      'several_tags',
      'found 2 tags: `<goto>A</goto>` (line 1) and `<goto input="x">A</goto>` (line 2)',
    ],
    [
      'two tags in code',
      '`<goto>A</goto>` or\n`<goto>B</goto>`',
      'several_tags',
      'found 2 tags: `<goto>A</goto>` (line 1) and `<goto>B</goto>` (line 2)',
    ],
    [
      'many tags',
      [1, 2, 3, 4, 5, 6, 7].map((i) => `<goto>${i}</goto>`).join('\n'),
      'several_tags',
      'found 7 tags: `<goto>1</goto>` (line 1), `<goto>2</goto>` (line 2), `<goto>3</goto>` (line 3), ' +
        '`<goto>4</goto>` (line 4), `<goto>5</goto>` (line 5) and 2 more',
    ],
    [
      'two tags, one of them a whole story',
      `<goto>A</goto>\n<goto>${'x'.repeat(99)}</goto>`,
      'several_tags',
      `found 2 tags: \`<goto>A</goto>\` (line 1) and \`<goto>${'x'.repeat(60)}…</goto>\` (line 2)`,
    ],
    ['an unclosed tag', '\n<goto>A', 'unclosed_tag', 'the `<goto>` on line 2 has no `</goto>`'],
    ['half a tag', 'I <goto', 'unclosed_tag', 'the `<goto` on line 1 is not a complete tag'],
    ['an empty target', '<goto> </goto>', 'bad_state', '`<goto></goto>` (line 1): the name of the state is empty'],
    ['a tag that closes itself', '<goto/>', 'bad_state', '`<goto></goto>` (line 1): the name of the state is empty'],
    [
      'an unknown state',
      '<goto>X.md</goto>',
      'bad_state',
      '`<goto>X.md</goto>` (line 1): there is no state `X.md` in this workflow',
    ],
    [
      'a state in another case',
      '<goto>run</goto>',
      'bad_state',
      '`<goto>run</goto>` (line 1): there is no state `run` in this workflow (did you mean RUN?)',
    ],
    [
      'a NUL in a state',
      '<goto>A\0</goto>',
      'bad_state',
      '`<goto>A\0</goto>` (line 1): "A\\u0000" contains a NUL character',
    ],
    [
      'a call without return',
      '<call>A</call>',
      'missing_attribute',
      '`<call>A</call>` (line 1): `return="STATE"` is missing',
    ],
    [
      'a call with an empty return',
      '<call return=" ">A</call>',
      'missing_attribute',
      '`<call>A</call>` (line 1): `return="STATE"` is missing',
    ],
    [
      'a function without return',
      '<function>A</function>',
      'missing_attribute',
      '`<function>A</function>` (line 1): `return="STATE"` is missing',
    ],
    [
      'a fork without next',
      '<fork>W</fork>',
      'missing_attribute',
      '`<fork>W</fork>` (line 1): `next="STATE"` is missing',
    ],
    [
      'an unknown return',
      '<call return="X">RUN</call>',
      'bad_state',
      '`<call>RUN</call>` (line 1): `return`: there is no state `X` in this workflow',
    ],
    [
      'an unknown next',
      '<fork next="RUM">W</fork>',
      'bad_state',
      '`<fork>W</fork>` (line 1): `next`: there is no state `RUM` in this workflow (did you mean RUN?)',
    ],
    [
      'a NUL in an attribute',
      '<fork next="N" item="\0">W</fork>',
      'bad_attribute',
      '`<fork>W</fork>` (line 1): `item` contains a NUL character',
    ],
    [
      'a NUL in an input',
      '<goto input="\0">A</goto>',
      'bad_attribute',
      '`<goto>A</goto>` (line 1): `input` contains a NUL character',
    ],
    [
      'a NUL in the name of a variable',
      '<fork next="N" a\0b="x">W</fork>',
      'bad_attribute',
      '`<fork>W</fork>` (line 1): "a\\u0000b" cannot be a variable: it contains a NUL character',
    ],
    [
      'a folder that does not exist',
      '<reset cd="gone">A</reset>',
      'no_folder',
      '`<reset>A</reset>` (line 1): there is no folder `gone`',
    ],
    [
      'a folder nobody has looked for',
      '<fork next="N" cd="constructor">W</fork>',
      'no_folder',
      '`<fork>W</fork>` (line 1): there is no folder `constructor`',
    ],
    [
      'a stack that is neither kept nor cleared',
      '<reset stack="drop">A</reset>',
      'bad_attribute',
      '`<reset>A</reset>` (line 1): `stack` can be "clear" or "keep", not "drop"',
    ],
    [
      'an empty model',
      '<call return=R model="">A</call>',
      'bad_attribute',
      '`<call>A</call>` (line 1): `model` is empty',
    ],
    [
      'an empty effort',
      '<fork next=N effort>W</fork>',
      'bad_attribute',
      '`<fork>W</fork>` (line 1): `effort` is empty',
    ],
  ])('is reported precisely: %s', (_, text, kind, message) => {
    expect(decide(text, contextOf())).toStrictEqual(wrong(kind, message));
  });

  const REQUIRED: Readonly<Record<string, string>> = {
    fork: ' next=N',
    'fork-each': ' next=N in=out.txt',
    call: ' return=R',
    function: ' return=R',
  };

  test.each(
    TAG_NAMES.filter((name) => TRANSITIONS[name].body === 'state').flatMap((name) => [
      [name, 'x/A.md', '/'],
      [name, '..\\A.md', '\\'],
      [name, '/A', '/'],
    ]),
  )('is a path between <%s> and its end: %s', (name, path, separator) => {
    const text = `<${name}${REQUIRED[name] ?? ''}>${path}</${name}>`;
    expect(decide(text, contextOf())).toStrictEqual(
      wrong(
        'bad_state',
        `\`<${name}>${path}</${name}>\` (line 1): \`${path}\` contains \`${separator}\`: name a state of this workflow, not a path`,
      ),
    );
  });

  test.each([
    ['call', 'return', 'x/R.md', '/'],
    ['call', 'return', 'x\\R', '\\'],
    ['function', 'return', '../R', '/'],
    ['function', 'return', '.\\R', '\\'],
    ['fork', 'next', '/N', '/'],
    ['fork', 'next', 'C:\\N', '\\'],
  ])('is a path in <%s %s="%s">', (name, key, path, separator) => {
    expect(decide(`<${name} ${key}="${path}">A</${name}>`, contextOf())).toStrictEqual(
      wrong(
        'bad_state',
        `\`<${name}>A</${name}>\` (line 1): \`${key}\`: \`${path}\` contains \`${separator}\`: name a state of this workflow, not a path`,
      ),
    );
  });

  const TAKEN: Record<string, readonly string[]> = {
    goto: ['input'],
    reset: ['cd', 'stack', 'input'],
    call: ['return', 'input', 'model', 'effort'],
    function: ['return', 'input', 'model', 'effort'],
    fork: ['next', 'cd', 'input', 'model', 'effort'],
    result: [],
  };
  const OWN = ['return', 'next', 'cd', 'stack', 'input', 'model', 'effort'];

  test.each(
    Object.entries(TAKEN).flatMap(([name, taken]) => OWN.map((key) => [name, key, taken.includes(key)] as const)),
  )('is, on <%s>, the attribute %s where it has no meaning (it has one: %s)', (name, key, taken) => {
    const required = { call: 'return', function: 'return', fork: 'next' }[name];
    const attributes = {
      ...(required !== undefined && { [required]: 'N' }),
      [key]: 'N',
      ...(key === 'cd' && { cd: 'sub' }),
    };
    if (key === 'stack') Object.assign(attributes, { stack: 'keep' });
    const written = Object.entries(attributes).map(([each, value]) => ` ${each}="${value}"`);
    const shown = name === 'result' ? '`<result>`' : `\`<${name}>A</${name}>\``;
    const decision = decide(`<${name}${written.join('')}>A</${name}>`, contextOf());
    const misplaced = wrong('misplaced_attribute', `${shown} (line 1): \`${key}\` has no meaning on <${name}>`);
    if (taken) expect(decision.kind).toBe('go');
    else expect(decision).toStrictEqual(misplaced);
  });

  test.each([
    'PATH',
    'HOME',
    'IFS',
    'ENV',
    'BASH_ENV',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'DYLD_INSERT',
    'RAYMOND_STATE',
    '__proto__',
  ])('is a variable of a fork named %s', (name) => {
    expect(decide(`<fork next="N" ${name}="x">W</fork>`, contextOf())).toStrictEqual(
      wrong(
        'bad_attribute',
        `\`<fork>W</fork>\` (line 1): \`${name}\` cannot be a variable: scripts would take it for something else; use another name`,
      ),
    );
  });

  test('is a variable named Path on Windows only', () => {
    const text = '<fork next="N" Path="x">W</fork>';
    expect(decide(text, contextOf()).kind).toBe('go');
    expect(decide(text, contextOf({ scope: scopeOf(SCOPE.files, 'windows') })).kind).toBe('wrong');
  });

  test('is an ambiguous or a foreign state', () => {
    const scope = scopeOf(['A.md', 'A.sh', 'B.bat']);
    expect(decide('<goto>A</goto>', contextOf({ scope }))).toStrictEqual(
      wrong(
        'bad_state',
        '`<goto>A</goto>` (line 1): the state `A` is ambiguous: A.md and A.sh both exist; write the extension',
      ),
    );
    expect(decide('<goto>A.sh</goto>', contextOf({ scope })).kind).toBe('go');
    expect(decide('<goto>B</goto>', contextOf({ scope }))).toStrictEqual(
      wrong(
        'bad_state',
        '`<goto>B</goto>` (line 1): the state `B` exists only for Windows (B.bat); add B.sh to run it here',
      ),
    );
  });
});

describe('a warning', () => {
  test.each([
    [
      'an attribute given twice',
      '<fork next="N" a="1" a="2">W</fork>',
      ['`<fork>W</fork>` (line 1) gives `a` more than once; the last one counts'],
    ],
    [
      'an attribute of the language given twice, in two letter cases',
      '<goto input="1" INPUT="2">A</goto>',
      ['`<goto>A</goto>` (line 1) gives `input` more than once; the last one counts'],
    ],
    [
      'attributes that mean nothing there',
      '<goto a="1" b="2">A</goto>',
      [
        '`<goto>A</goto>` (line 1): `a` means nothing on <goto> and is ignored',
        '`<goto>A</goto>` (line 1): `b` means nothing on <goto> and is ignored',
      ],
    ],
    [
      'an attribute that means nothing on a result',
      '<result format="json">{}</result>',
      ['`<result>` (line 1): `format` means nothing on <result> and is ignored'],
    ],
  ])('is reported, and the answer is followed: %s', (_, text, warnings) => {
    const decision = decide(text, contextOf());
    expect(decision.kind === 'go' && decision.warnings).toStrictEqual(warnings);
  });

  test('the last of two values is the one that counts', () => {
    expect(decide('<goto input="1" INPUT="2">A</goto>', contextOf())).toMatchObject({
      tags: [{ target: { input: '2' } }],
    });
  });

  test('an ignored attribute makes no variable and is not checked', () => {
    expect(decide('<goto PATH="x">A</goto>', contextOf())).toStrictEqual(
      go([GOTO_A], ['`<goto>A</goto>` (line 1): `PATH` means nothing on <goto> and is ignored']),
    );
  });
});

describe('a policy', () => {
  const policy = [entryOf('goto', 'A'), entryOf('call', 'B.md', { return: 'R' }), entryOf('result')];

  test.each(['<goto>A.md</goto>', '<call return="R.md" model="opus">B</call>', '<result>x</result>'])(
    'permits %s',
    (text) => {
      expect(decide(text, contextOf({ policy })).kind).toBe('go');
    },
  );

  test.each([
    ['<goto>B</goto>', '`<goto>B</goto>` (line 1) is not permitted here'],
    ['<call return="N">B</call>', '`<call return="N">B</call>` (line 1) is not permitted here'],
    ['<reset>A</reset>', '`<reset>A</reset>` (line 1) is not permitted here'],
  ])('refuses %s', (text, message) => {
    expect(decide(text, contextOf({ policy }))).toStrictEqual(wrong('not_permitted', message));
  });

  test('does not hide other problems of a tag', () => {
    expect(decide('<goto>X</goto>', contextOf({ policy }))).toMatchObject({ problem: { kind: 'bad_state' } });
  });
});

describe('an implicit transition', () => {
  const only = (context: Partial<AnswerContext>): Decision => decide('All done.', contextOf(context));
  const implicit = (tag: ExactTag): Decision => ({ kind: 'go', tags: [tag], implicit: true, warnings: [] });

  test.each<[string, AnswerContext['policy'][number], ExactTag]>([
    ['a goto', entryOf('goto', 'A'), GOTO_A],
    ['a reset', entryOf('reset', 'A', { cd: 'sub' }), { tag: 'reset', target: goOf('A.md', { cd: '/w/sub' }) }],
    ['a call', entryOf('call', 'A', { return: 'R' }), { tag: 'call', target: goOf('A.md', { return: 'R.md' }) }],
    [
      'a fork',
      entryOf('fork', 'W', { next: 'N', item: 'x' }),
      { tag: 'fork', target: goOf('W.md', { next: 'N.md', variables: { item: 'x' } }) },
    ],
  ])('is taken if there is no tag: %s', (_, entry, tag) => {
    expect(only({ policy: [entry] })).toStrictEqual(implicit(tag));
  });

  test.each<[string, Partial<AnswerContext>]>([
    ['it may not be', { policy: [entryOf('goto', 'A')], implicit: 'never' }],
    ['there is no policy', {}],
    ['there are two', { policy: [entryOf('goto', 'A'), entryOf('goto', 'B')] }],
    ['it is a result', { policy: [entryOf('result')] }],
    ['something about it is open', { policy: [entryOf('call', 'A')] }],
  ])('is not taken if %s', (_, context) => {
    expect(only(context)).toStrictEqual(wrong('no_tag', 'it contains no tag'));
  });

  const policy = [entryOf('goto', 'A')];

  test('may also be written', () => {
    expect(decide('<goto>A.md</goto>', contextOf({ policy }))).toStrictEqual(go([GOTO_A]));
  });

  test.each([
    ['another tag was said', '<goto>B</goto>', 'not_permitted'],
    ['two were said', '<goto>A</goto><goto>B</goto>', 'several_tags'],
    ['half of one was said', '<goto>A', 'unclosed_tag'],
    ['another was said in code', '`<goto>B</goto>`', 'not_permitted'],
  ])('does not excuse an error: %s', (_, text, kind) => {
    expect(decide(text, contextOf({ policy }))).toMatchObject({ kind: 'wrong', problem: { kind } });
  });

  test('is reported without a line if it is invalid', () => {
    expect(only({ policy: [entryOf('reset', 'A', { cd: 'gone' })] })).toStrictEqual(
      wrong('no_folder', '`<reset>A</reset>`: there is no folder `gone`'),
    );
  });
});

describe('a policy that provides more than the answer says', () => {
  const inputOf = (text: string, policy: readonly PolicyEntry[], variables = {}) => {
    const decision = decide(text, contextOf({ policy, variables }));
    return decision.kind === 'go' ? decision.tags[0]?.target.input : decision;
  };

  test.each([
    ['a template', 'work on {{input}}', 'work on x'],
    ['a template in braces with blanks', '{{ input }}!', 'x!'],
    ['a text without variables', 'plain', 'plain'],
    ['an empty text', '', ''],
  ])('renders its `input` if the tag has none: %s', (_, input, rendered) => {
    const policy = [entryOf('goto', 'A', { input })];
    expect(inputOf('<goto>A</goto>', policy, { input: 'x' })).toBe(rendered);
    expect(inputOf('Done.', policy, { input: 'x' })).toBe(rendered);
  });

  test('gives way to the `input` of the tag, which is no template', () => {
    const policy = [entryOf('goto', 'A', { input: 'of the policy' })];
    expect(inputOf('<goto input="{{input}}">A</goto>', policy, { input: 'x' })).toBe('{{input}}');
  });

  test('provides the `input` of the first entry that fits', () => {
    const policy = [
      entryOf('goto', 'A', { input: 'a' }),
      entryOf('goto', 'B', { input: 'first' }),
      entryOf('goto', 'B', { input: 'second' }),
    ];
    expect(inputOf('<goto>B</goto>', policy)).toBe('first');
  });

  test('warns of variables that are not set', () => {
    const decision = decide('Done.', contextOf({ policy: [entryOf('goto', 'A', { input: '{{nothing}}' })] }));
    expect(decision).toMatchObject({ warnings: ['{{nothing}} in the policy is not set and stays as it is'] });
  });

  test('renders the variables of an implicit fork', () => {
    const policy = [entryOf('fork', 'W', { next: 'N', item: '{{result}}' })];
    const decision = decide('Done.', contextOf({ policy, variables: { result: 'r' } }));
    expect(decision).toMatchObject({ tags: [{ target: { variables: { item: 'r' } } }] });
  });
});

describe('a gate of payloads', () => {
  const gate = [payloadEntry('YES'), payloadEntry('NO')];

  test.each(['YES', 'NO'])('lets its own texts through: %s', (payload) => {
    expect(decide(`Well. <result> ${payload} </result>`, contextOf({ policy: gate })).kind).toBe('go');
  });

  test.each(['yes', 'YES.', 'Yes, two bugs were fixed', ''])('does not let another text through: %j', (payload) => {
    expect(decide(`<result>${payload}</result>`, contextOf({ policy: gate }))).toStrictEqual(
      wrong(
        'not_permitted',
        `\`<result>${payload}</result>\` is not permitted here: its text must be exactly \`YES\` or \`NO\``,
      ),
    );
  });

  test('of one payload is taken if there is no tag', () => {
    const decision = decide('Done.', contextOf({ policy: [payloadEntry('YES')] }));
    expect(decision).toMatchObject({ implicit: true, tags: [{ tag: 'result', target: { body: 'YES' } }] });
  });
});

describe('a forced transition', () => {
  const forced = contextOf({ policy: [entryOf('goto', 'A')], implicit: 'always' });

  test.each(['<goto>B</goto>', '<result>x</result>', '<goto>A</goto><goto>B</goto>', '<goto>never closed', ''])(
    'is taken whatever the answer says: %j',
    (text) => {
      expect(decide(text, forced)).toMatchObject({ implicit: true, tags: [GOTO_A] });
    },
  );

  test.each([
    [
      'another transition',
      '<goto>B</goto>',
      ['`<goto>B</goto>` (line 1) is ignored: `force_implicit` takes `<goto>A</goto>`'],
    ],
    ['the same', '<goto>A.md</goto>', []],
    ['nothing', 'Done.', []],
  ])('is mentioned if the answer asks for %s', (_, text, warnings) => {
    expect(decide(text, forced)).toMatchObject({ warnings });
  });
});

describe('an `input-file`', () => {
  test.each(['goto', 'reset'])('hands its content over, whatever it contains: <%s>', (tag) => {
    expect(decide(`<${tag} input-file="out.txt">A</${tag}>`, contextOf())).toMatchObject({
      tags: [{ target: { input: 'said "no"' } }],
    });
  });

  test('of a policy goes along with an implicit transition', () => {
    const policy = [entryOf('goto', 'A', { 'input-file': 'out.txt' })];
    expect(decide('Done.', contextOf({ policy }))).toMatchObject({ tags: [{ target: { input: 'said "no"' } }] });
  });

  test.each([
    ['does not exist', 'input-file="x"', 'no_file', '`input-file` `x`: there is no such file'],
    ['cannot be used', 'input-file="big.txt"', 'no_file', '`input-file` `big.txt`: it has more than 16 MiB'],
    [
      'stands beside an input',
      'input="a" input-file="out.txt"',
      'bad_attribute',
      '`input` and `input-file` exclude each other',
    ],
  ] as const)('is a problem if it %s', (_, attributes, kind, message) => {
    expect(decide(`<goto ${attributes}>A</goto>`, contextOf())).toStrictEqual(
      wrong(kind, `\`<goto>A</goto>\` (line 1): ${message}`),
    );
  });

  test('is what a broken quote should be replaced by', () => {
    expect(decide('<goto input="he said "hi" to me">A</goto>', contextOf())).toStrictEqual(
      wrong(
        'unclosed_tag',
        'the `<goto` on line 1 is not a complete tag; probably an attribute contains a quote: hand such a text over with `input-file="PATH"`',
      ),
    );
  });
});

test('an empty `cd` is no change of folder', () => {
  const policy = [entryOf('reset', 'A')];
  expect(decide('<reset cd=" ">A</reset>', contextOf({ policy }))).toMatchObject({ tags: [{ target: { cd: null } }] });
});

describe('the folders an answer names', () => {
  const implicit = [entryOf('reset', 'A', { cd: 'always' })];

  test.each([
    ['of a reset', '<reset cd="sub dir">A</reset>', [], ['sub dir']],
    ['of several forks, each once', '<fork cd=a>W</fork><fork CD="b">W</fork><fork cd=a>W</fork>', [], ['a', 'b']],
    ['of a tag in code', '`<reset cd=a>A</reset>`', [], ['a']],
    ['of the implicit transition, if none was said', 'Done.', implicit, ['always']],
    ['of the tag that was said, and of one that may be forced', '<reset cd="a">A</reset>', implicit, ['a', 'always']],
    ['none, if nothing names one', '<goto>A</goto>', [], []],
    ['none in a comment', '<!-- <reset cd=a>A</reset> -->', [], []],
    ['none, if the answer cannot be read', '<reset cd=a>A</reset><goto', [], []],
  ])('are found: %s', (_, text, policy, folders) => {
    expect(findNamedFolders(text, policy)).toStrictEqual(folders);
  });
});

describe('any text in any context', () => {
  const ENTERED = {
    name: 'lib',
    title: 'lib',
    path: '/lib',
    state: 'lib/A.md',
    requiredInput: null,
    takesNoInput: false,
    joins: false,
    variables: {},
  };
  const entry = fc
    .tuple(
      fc.constantFrom(...TAG_NAMES),
      fc.constantFrom(null, 'A', 'A.md', 'W', 'X', ''),
      fc.dictionary(
        fc.constantFrom(
          'return',
          'next',
          'cd',
          'stack',
          'model',
          'input-file',
          'item',
          '__proto__',
          'wait',
          'timeout',
          'timeout_next',
          'cancel',
          'group',
          'in',
          'as',
        ),
        fc.constantFrom('N', 'R.md', 'sub', '', '2', 'true'),
      ),
    )
    .map((of) => entryOf(...of));
  const context: fc.Arbitrary<AnswerContext> = fc.record({
    policy: fc.array(entry, { maxLength: 3 }),
    scope: fc.record({
      files: fc.subarray(['A.md', 'A.sh', 'A.bat', 'N.md', 'R.md', 'W.md', 'x.txt', '.md', '']),
      platform: fc.constantFrom('unix', 'windows'),
    }),
    folders: fc.constantFrom({}, { sub: '/sub' }, { sub: null }),
    files: fc.constantFrom({}, { sub: { text: 'x' } }, { sub: { problem: 'gone' } }),
    workflows: fc.constantFrom({}, { A: ENTERED }, { A: { problem: 'gone' } }),
    state: fc.constantFrom('A.md', 'lib/A.md'),
    nesting: fc.constantFrom(0, 8),
    maxDepth: fc.constantFrom(null, 8),
    resetStack: fc.constantFrom('keep', 'clear'),
    maxForks: fc.constantFrom(null, 1),
    implicit: fc.constantFrom('never', 'without_tag', 'always'),
    variables: fc.constantFrom({}, { item: 'x' }),
    openWorkers: fc.constantFrom(
      () => 0,
      () => 2,
    ),
  });

  test('gets a decision: existing states or a message', () => {
    fc.assert(
      fc.property(anyText, context, (text, given) => {
        const decision = decide(text, given);
        if (decision.kind === 'wrong') {
          expect(decision.problem.message).not.toBe('');
          return;
        }
        expect(decision.tags.length).toBeGreaterThan(0);
        for (const { tag, target: way } of decision.tags) {
          const body = TRANSITIONS[tag].body === 'state' ? way.body : null;
          const named = [body, way.return, way.next].filter((state) => state !== null);
          for (const state of named) {
            expect(workflowNameOf(state)).toBe(workflowNameOf(given.state));
            expect(given.scope.files).toContain(fileInWorkflow(state));
          }
          if (isWorkflowTag(tag)) expect(way.body).toBe(ENTERED.state);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('has a transition only if it is unambiguous', () => {
    fc.assert(
      fc.property(anyText, context, (text, given) => {
        const decision = decide(text, given);
        const tags = decision.kind === 'go' ? decision.tags.map(({ tag }) => tag) : [];
        const others = tags.filter((tag) => !startsWorkers(tag));
        expect(others.length).toBeLessThanOrEqual(1);
        if (tags.length > 1 && others.length > 0) expect(others).toStrictEqual(['goto']);
      }),
    );
  });

  test('names its folders without throwing', () => {
    fc.assert(fc.property(anyText, context, (text, { policy }) => Array.isArray(findNamedFolders(text, policy))));
  });
});
