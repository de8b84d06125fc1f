import { describe, expect, test } from 'vitest';
import { lintSource } from '../../../src/lint/lint.ts';
import { sourceOf } from '../source-of.ts';
import { bash, type Case, check, END } from './check.ts';

describe('tags:', () =>
  check([
    [
      'no return',
      { 'START.md': 'Then answer <call>END.md</call>.', 'END.md': END },
      ['missing-attribute START.md:1:13'],
    ],
    ['no next', { 'START.md': 'Then answer <fork>END.md</fork>.', 'END.md': END }, ['missing-attribute START.md:1:13']],
    [
      'forks that leave their next to a goto are fine',
      { 'START.md': 'Then answer <fork>END.md</fork> <goto>END.md</goto>.', 'END.md': END },
      [],
    ],
    [
      'neighboring forks of a prompt that do not agree on next',
      {
        'START.md': 'Then answer\n<fork next="A">W</fork>\n<fork next="END.md">W</fork>',
        'A.md': END,
        'W.md': END,
        'END.md': END,
      },
      ['several-tags START.md:3:1'],
    ],
    [
      'forks with different next that are alternatives, and neighbors that agree, are fine',
      {
        'START.md': 'If so <fork next="A">W</fork><fork next="A.md">W</fork>, else <fork next="END">W</fork>.',
        'A.md': END,
        'W.md': END,
        'END.md': END,
      },
      [],
    ],
    [
      'a state in an attribute of a tag that is not closed',
      { 'START.md': 'Then answer with <goto target="END.md">.', 'END.md': END },
      ['unclosed-tag START.md:1:18'],
    ],
    [
      'an attribute of a tag that is not closed and names no state is fine',
      { 'START.md': 'Then answer with a <goto target="…"> or <result>x</result>.', 'END.md': END },
      [],
    ],
    [
      'cd on a goto',
      { 'START.md': 'Then answer\n\n<goto cd="src">END.md</goto>', 'END.md': END },
      ['misplaced-attribute START.md:3:1'],
    ],
    [
      'several attributes that mean nothing on one tag are one finding',
      { 'START.md': 'Then answer\n\n<goto cd="src" return="A" next="B" stack="keep">END.md</goto>', 'END.md': END },
      ['misplaced-attribute START.md:3:1'],
    ],
    [
      'cd on a call, in a script',
      { 'START.sh': bash('echo \'<call cd="x" return="END">END</call>\''), 'END.md': END },
      ['misplaced-attribute START.sh:2:7'],
    ],
    [
      'return on a result',
      { 'START.md': 'Then answer <result return="A">x</result>.' },
      ['misplaced-attribute START.md:1:13'],
    ],
    [
      'a stack that is neither kept nor cleared',
      { 'START.md': 'Then answer <reset stack="drop">END.md</reset>.', 'END.md': END },
      ['bad-attribute START.md:1:13'],
    ],
    [
      'a variable that scripts would take for something else',
      { 'START.md': 'Then answer <fork next="END" PATH="x">END.md</fork>.', 'END.md': END },
      ['bad-attribute START.md:1:13'],
    ],
    [
      'an empty model',
      { 'START.md': 'Then answer <call return="END" model="">END.md</call>.', 'END.md': END },
      ['bad-attribute START.md:1:13'],
    ],
    [
      'a variable on a goto',
      { 'START.md': 'Then answer <goto item="x">END.md</goto>.', 'END.md': END },
      ['ignored-attribute START.md:1:13'],
    ],
    ...['AUTO', 'true', ''].map(
      (value): Case => [
        `a worktree that is none: "${value}"`,
        { 'START.md': `Then answer <fork next="END" worktree="${value}">END.md</fork>.`, 'END.md': END },
        ['ignored-attribute START.md:1:13'],
      ],
    ),
    [
      'a worktree, and a variable of the same name',
      {
        'START.md':
          'Then answer <fork next="END" worktree="auto">END</fork> <fork next="END" worktree="blue">END</fork>.',
        'END.md': END,
      },
      [],
    ],
    [
      'a worktree and a folder at once',
      { 'START.md': 'Then answer <fork next="END" worktree="auto" cd="sub">END.md</fork>.', 'END.md': END },
      ['bad-attribute START.md:1:13'],
    ],
    [
      'an attribute given twice',
      { 'START.md': 'Then answer <goto input="a" input="b">END.md</goto>.', 'END.md': END },
      ['ignored-attribute START.md:1:13'],
    ],
    [
      'a tag that is not closed at the end of a sentence',
      { 'START.md': 'Then answer <goto>END.md.', 'END.md': END },
      ['unclosed-tag START.md:1:13'],
    ],
    [
      'a tag that is not closed and names a state',
      { 'START.md': 'If so, answer <goto>END.md\nor else <result>no</result>.', 'END.md': END },
      ['unclosed-tag START.md:1:15'],
    ],
    [
      'a closing tag without its slash',
      { 'START.md': 'Then answer <goto>END.md<goto>\n', 'END.md': END },
      ['unclosed-tag START.md:1:13'],
    ],
    [
      'a tag of a script that another one does not close',
      { 'START.sh': bash('if [ -e a ]; then echo "<goto>END.md"; else echo "<goto>END.md</goto>"; fi'), 'END.md': END },
      ['unclosed-tag START.sh:2:25'],
    ],
    [
      'a tag of a script that is closed elsewhere',
      { 'START.sh': bash('echo "<goto>END.md"', 'echo "</goto>"'), 'END.md': END },
      [],
    ],
    [
      'a <print> of a script that nothing closes',
      { 'START.sh': bash('# <print>', 'echo "<print>half done"', 'echo "<result>x</result>"') },
      ['unclosed-tag START.sh:3:7'],
    ],
    [
      'a <print> in a script, of one or several commands',
      { 'START.sh': bash('echo "<print>a</print>"', 'echo "<print>"', 'echo "</print>"', 'echo "<result>x</result>"') },
      [],
    ],
    ['a <print> in a prompt', { 'START.md': 'Say <print>START</print> now and then. Then <result>x</result>.' }, []],
    ['talk about a tag', { 'START.md': 'When done, answer with a <result> that holds the summary.' }, []],
    [
      'a tag that does not exist',
      { 'START.md': 'Then <got>END.md</got>, or else <result>x</result>.', 'END.md': END },
      ['unknown-tag START.md:1:6'],
    ],
    ['other markup', { 'START.md': '<task>END</task> When done: <goto>END</goto>', 'END.md': END }, []],
  ]));

describe('text that is not a tag:', () =>
  check([
    [
      'code beside a tag',
      {
        'START.md':
          'Not:\n\n```\n<goto>GHOST.md</goto>\n```\n\nand not `<goto>GHOST</goto>`. When done <result>ok</result>',
      },
      [],
    ],
    [
      'code is all there is',
      { 'START.md': 'When done:\n\n```\n<goto>GHOST.md</goto>\n```\n' },
      ['missing-state START.md:4:1'],
    ],
    ['a comment', { 'START.md': '<!-- <goto>GHOST.md</goto> -->\nWhen done <result>ok</result>' }, []],
    ['a payload', { 'START.md': 'When done <result>say <goto>GHOST.md</goto></result>' }, []],
    ['frontmatter', { 'START.md': '---\ndescription: <goto>GHOST.md</goto>\n---\nWhen done <result>ok</result>' }, []],
    [
      'a placeholder',
      {
        'START.md': 'Choose one and answer <goto>STATE</goto> or <goto>[NAME].md</goto>: END or LAST.',
        'END.md': END,
        'LAST.md': END,
      },
      [],
    ],
    ['a variable of a template', { 'START.md': 'When done <goto>{{result}}</goto>', 'END.md': END }, []],
    [
      'a comment of a script',
      { 'START.sh': bash('# prints <goto>GHOST</goto>', 'echo "<result>x</result>" # <goto>GHOST</goto>') },
      [],
    ],
    [
      'what a script writes elsewhere',
      {
        'START.sh': bash(
          'echo "<goto>GHOST</goto>" >&2',
          'echo "<goto>GHOST</goto>" > log',
          'echo "<result>x</result>"',
        ),
      },
      [],
    ],
    [
      'what a script looks for',
      {
        'START.sh': bash(
          'if grep -q "<goto>GHOST</goto>" log; then echo "<result>y</result>"; else echo "<result>n</result>"; fi',
        ),
      },
      [],
    ],
    ['a variable of a shell', { 'START.sh': bash('echo "<goto>$next</goto>"'), 'END.md': END }, []],
  ]));

test('one finding says all that a rule has to say about a place', () => {
  const tag = '<goto cd="src" return="A" next="B" stack="keep">END.md</goto>';
  const [finding] = lintSource(sourceOf({ 'START.md': `Then answer\n\n${tag}`, 'END.md': END }));
  expect(finding?.message).toBe(
    '`<goto>END.md</goto>`: `return` has no meaning on <goto>; `next` has no meaning on <goto>; `cd` has no meaning on <goto>; and 1 more like this',
  );
});
