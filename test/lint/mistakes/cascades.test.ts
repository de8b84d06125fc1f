import { describe } from 'vitest';
import { bash, check, END, policy } from './check.ts';

const go = (to: string): string => `When done <goto>${to}</goto>.\n`;

describe('one mistake is reported once:', () =>
  check([
    [
      'of states that nothing leads to, the first',
      { 'START.md': END, 'A.md': go('B'), 'B.md': go('C'), 'C.md': `If so <goto>B</goto>. ${END}` },
      ['unreachable-state A.md:0:0'],
    ],
    [
      'two that nothing leads to and that lead to the same',
      { 'START.md': END, 'A.md': go('C'), 'B.md': go('C'), 'C.md': END },
      ['unreachable-state A.md:0:0', 'unreachable-state B.md:0:0'],
    ],
    [
      'a note does not lead to the states that it speaks of',
      { 'START.md': END, 'NOTES.md': 'A.md comes after START.md.', 'A.md': END },
      ['unreachable-state A.md:0:0', 'unreachable-state NOTES.md:0:0'],
    ],
    [
      'what lies behind a tag that does not exist',
      { 'START.md': `If so <got>A.md</got>. ${END}`, 'A.md': go('B'), 'B.md': END },
      ['unknown-tag START.md:1:7'],
    ],
    [
      'what lies behind a tag that is not permitted',
      { 'START.md': policy(['tag: result'], `If so <goto>A.md</goto>. ${END}`), 'A.md': go('B'), 'B.md': END },
      ['forbidden-tag START.md:5:7'],
    ],
    [
      'what lies behind a state that is missing',
      { 'START.md': go('LOOK.py'), 'A.md': go('B'), 'B.md': END },
      ['missing-state START.md:1:11'],
    ],
    [
      'more than what can lie behind it',
      { 'START.md': go('LOOK.py'), 'A.md': END, 'B.md': END },
      ['unreachable-state A.md:0:0', 'unreachable-state B.md:0:0', 'missing-state START.md:1:11'],
    ],
    [
      'what a fork without its next was to lead to',
      { 'START.sh': bash('echo "<fork>W.md</fork>"'), 'W.md': END, 'A.md': END },
      ['missing-attribute START.sh:2:7'],
    ],
    [
      'what a loop without a way out was to lead to',
      { 'START.sh': bash('echo "<reset>START.sh</reset>"'), 'A.md': END },
      ['endless-loop START.sh:2:7'],
    ],
    [
      'what lies behind a tag that goes into a file',
      { 'START.sh': bash('{', '  echo "<goto>A</goto>"', '} > log'), 'A.md': END },
      ['no-way-out START.sh:1:1'],
    ],
    [
      'a misspelt key, and the states below it',
      { 'START.md': '---\nallowed_transition:\n  - { tag: goto, target: A.md }\n---\nStop when done.\n', 'A.md': END },
      ['key-without-effect START.md:2:1'],
    ],
    [
      'frontmatter that does not come first',
      {
        'START.md': '<!-- mine -->\n---\nallowed_transitions:\n  - { tag: goto, target: A.md }\n---\nStop when done.\n',
        'A.md': END,
      },
      ['key-without-effect START.md:2:1'],
    ],
    ['a rule across the page', { 'START.md': `Plan\n---\nmodel: the car\n---\n${END}` }, []],
    [
      'frontmatter in a script',
      { 'START.sh': '---\nmodel: opus\n---\n#!/bin/bash\necho "<result>x</result>"\n' },
      ['key-without-effect START.sh:1:1'],
    ],
    [
      'a policy with a misspelt state, of which the prompt has the right name',
      {
        'START.md': policy(
          ['tag: goto, target: BIULD.md', 'tag: result'],
          'If so <goto>BUILD.md</goto>, else <result>x</result>.',
        ),
        'BUILD.md': END,
      },
      ['missing-state START.md:3:26'],
    ],
    [
      'a prompt with a misspelt state, of which the policy has the right name',
      {
        'START.md': policy(
          ['tag: goto, target: BUILD.md', 'tag: result'],
          'If so <goto>BIULD.md</goto>, else <result>x</result>.',
        ),
        'BUILD.md': END,
      },
      ['missing-state START.md:6:7'],
    ],
    [
      'a prompt with another tag than its policy',
      {
        'START.md': policy(
          ['tag: goto, target: A.md', 'tag: result'],
          'If so <reset>A.md</reset>, else <result>x</result>.',
        ),
        'A.md': END,
      },
      ['forbidden-tag START.md:6:7'],
    ],
    [
      'a prompt with another state than its policy',
      {
        'START.md': policy(
          ['tag: goto, target: AFTER.md', 'tag: result'],
          'If so <goto>BEFORE.md</goto>, else <result>x</result>.',
        ),
        'AFTER.md': go('BEFORE.md'),
        'BEFORE.md': END,
      },
      ['forbidden-tag START.md:6:7'],
    ],
    [
      'a callee that does not return, and those that wait for its caller',
      {
        'START.md': 'When done <call return="END">A</call>.',
        'A.md': 'When done <call return="END">B</call>.',
        'B.md': 'When done <call return="LAST">C</call>.',
        'C.md': 'When done <goto>C</goto>.',
        'LAST.md': END,
        'END.md': END,
      },
      ['never-returns B.md:1:11'],
    ],
    [
      'a loop whose way out is not permitted',
      {
        'START.md': policy(
          ['tag: goto, target: A.md', 'tag: goto, target: START.md'],
          'If so <goto>START</goto> or <goto>A</goto>.',
        ),
        'A.md': policy(
          ['tag: reset, target: A.md, input: x', 'tag: goto, target: START.md'],
          'If so <goto>START</goto>, or <reset input="x">A</reset>, else <result>x</result>.',
        ),
      },
      ['forbidden-tag A.md:6:63'],
    ],
    [
      'a callee whose result is not permitted',
      {
        'START.md': 'When done <call return="END">A</call>.',
        'A.md': policy(
          ['tag: goto, target: A.md', 'tag: reset, target: A.md'],
          'If so <goto>A</goto> or <reset>A</reset>, else <result>x</result>.',
        ),
        'END.md': END,
      },
      ['forbidden-tag A.md:6:48'],
    ],
    [
      'forks beside a tag that cannot stand there',
      {
        'START.sh': bash('echo "<fork>A</fork>"', 'echo "<reset>END</reset>"'),
        'A.md': END,
        'END.md': END,
      },
      ['several-tags START.sh:3:7'],
    ],
  ]));
