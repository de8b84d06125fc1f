import { describe } from 'vitest';
import { bash, check, END, policy, SCRIPT } from './check.ts';

describe('names:', () =>
  check([
    [
      'a target that does not exist, in a policy and in the text of it, is told once',
      {
        'START.md': policy(
          ['tag: goto, target: PALN.md', 'tag: result'],
          'If so <goto>PALN.md</goto>, else <result>x</result>.',
        ),
        'PLAN.md': END,
      },
      ['missing-state START.md:3:26'],
    ],
    [
      'a target that does not exist, in a text',
      { 'START.md': 'Stop, then answer <goto>PLAN.md</goto>.' },
      ['missing-state START.md:1:19'],
    ],
    [
      'a state in an attribute, and something else between the tags, is one mistake',
      {
        'START.md': 'Then answer <call target="NEXT" return="END">go</call>.',
        'NEXT.md': END,
        'END.md': END,
      },
      ['missing-state START.md:1:13'],
    ],
    [
      'a return that does not exist',
      { 'START.md': 'Then answer <call return="NOPE.md">END.md</call>.', 'END.md': END },
      ['missing-state START.md:1:13'],
    ],
    [
      'a next that does not exist',
      { 'START.md': 'Then answer <fork next="NOPE.md">END.md</fork>.', 'END.md': END },
      ['missing-state START.md:1:13'],
    ],
    [
      'a target that does not exist, in a script',
      { 'START.sh': bash('echo "<goto>PLAN.md</goto>"') },
      ['missing-state START.sh:2:7'],
    ],
    [
      'a name in another letter case',
      { 'START.md': 'Then answer <goto>plan</goto>.', 'PLAN.md': END },
      ['missing-state START.md:1:13'],
    ],
    ['a path', { 'START.md': 'Then answer <goto>states/PLAN.md</goto>.' }, ['path-in-name START.md:1:13']],
    [
      'a path to a state that stands beside it',
      { 'START.md': 'Then answer <goto>states/PLAN.md</goto>.', 'PLAN.md': END },
      ['path-in-name START.md:1:13'],
    ],
    [
      'a path in a policy',
      { 'START.md': policy(['tag: goto, target: ..\\PLAN.md', 'tag: result'], END) },
      ['path-in-name START.md:3:26'],
    ],
    [
      'an ambiguous name',
      { 'START.md': 'Then answer <goto>A</goto>.', 'A.md': END, 'A.sh': SCRIPT },
      ['ambiguous-state START.md:1:13'],
    ],
    [
      'what only one of the states leads to that an ambiguous name may mean',
      {
        'START.md': 'Then answer <call return="B">END.md</call>.',
        'B.md': END,
        'B.sh': bash('echo "<goto>C.md</goto>"'),
        'C.md': END,
        'END.md': END,
      },
      ['ambiguous-state START.md:1:13'],
    ],
    [
      'a script for the other system only',
      { 'START.md': 'Then answer <goto>A</goto>.', 'A.bat': '@echo off' },
      ['foreign-state START.md:1:13'],
    ],
    [
      'the same script looked at for its own system',
      { 'START.md': 'Then answer <goto>A</goto>.', 'A.bat': '@echo ^<result^>x^</result^>' },
      [],
      { platform: 'windows' },
    ],
    ['a folder without a start', { 'BEGIN.md': END }, ['missing-entry example:0:0']],
    ['a folder with two', { 'START.md': END, '1_START.md': END }, ['ambiguous-entry example:0:0']],
    ['a start for the other system', { 'START.bat': '' }, ['missing-entry example:0:0']],
    [
      'a variable between single quotes',
      { 'START.sh': bash('next=END', "echo '<goto>$next</goto>'"), 'END.md': END },
      ['missing-state START.sh:3:7'],
    ],
    [
      'a name that no state can have, whatever is put in',
      { 'START.sh': bash('echo "<goto>STYLE_${1}.md</goto>"'), 'END.md': END },
      ['missing-state START.sh:2:7'],
    ],
    [
      'a name that only some states can have',
      { 'START.sh': bash('echo "<goto>STYLE_${1}.md</goto>"'), 'STYLE_go.md': END, 'STYLES.md': END },
      ['unreachable-state STYLES.md:0:0'],
    ],
  ]));
