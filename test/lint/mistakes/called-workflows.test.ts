import { describe } from 'vitest';
import { check, END } from './check.ts';

const policy = (...entries: readonly string[]): string =>
  `---\nallowed_transitions:\n${entries.map((entry) => `  - { ${entry} }\n`).join('')}---\n`;
const CALL = 'tag: call-workflow, target: ../lib, return: END.md';

describe('called workflows:', () =>
  check([
    [
      'a call that comes back',
      { 'START.md': `${policy(CALL)}Go.`, 'END.md': END, 'lib/START.md': END },
      ['implicit-transition START.md:3:5'],
    ],
    [
      'a workflow that is not there, in a policy and in a text',
      {
        'START.md': `${policy(CALL, 'tag: goto, target: END.md')}Say <goto>END.md</goto>, or <call-workflow return="END.md">../lib</call-workflow>.`,
        'END.md': 'Say <fork-workflow next="END.md">../gone</fork-workflow>, or <result>x</result>.',
      },
      ['missing-workflow END.md:1:5', 'missing-workflow START.md:3:35'],
    ],
    [
      'a path that is known at run time only',
      { 'START.sh': '#!/bin/bash\necho "<reset-workflow>$1</reset-workflow>"\n' },
      [],
    ],
    [
      'mistakes in the called workflow, where states are those of its own',
      {
        'START.md': 'Say <call-workflow return="END.md">../lib</call-workflow>.',
        'END.md': END,
        'lib/START.md': 'Say <goto>END.md</goto> or <goto>OTHER.md</goto>.',
        'lib/OTHER.md': END,
      },
      ['missing-state lib/START.md:1:5'],
    ],
    [
      'a policy, its evaluator and its text in the called workflow, whose states have no extension',
      {
        'START.md': 'Say <call-workflow return="END.md">../lib</call-workflow>.',
        'END.md': END,
        'lib/START.md':
          '---\nallowed_transitions: [{ tag: goto, target: DEEP }, { tag: result }]\nevaluator: { prompt: JUDGE.md }\n---\nSay <goto>DEEP</goto> or <result>x</result>.',
        'lib/JUDGE.md': 'Say <confirm></confirm> or <goto>DEEP</goto>.',
        'lib/DEEP.md': END,
      },
      [],
    ],
    [
      'calls that nest without end',
      {
        'START.md': `${policy(CALL)}Go.`,
        'END.md': END,
        'lib/START.md': `${policy('tag: call-workflow, target: ../deep, return: END.md')}Go.`,
        'lib/END.md': END,
        'deep/START.md': `${policy('tag: call-workflow, target: ../lib, return: END.md')}Go.`,
        'deep/END.md': END,
      },
      [
        'implicit-transition START.md:3:5',
        'implicit-transition deep/START.md:3:5',
        'endless-recursion lib/START.md:3:5',
        'implicit-transition lib/START.md:3:5',
      ],
    ],
    [
      'a loop through another workflow',
      {
        'START.md': 'Say <reset-workflow>../lib</reset-workflow>.',
        'lib/START.md': 'Say <reset-workflow>../deep</reset-workflow>.',
        'deep/START.md': 'Say <reset-workflow>../lib</reset-workflow>.',
      },
      ['endless-loop lib/START.md:1:5'],
    ],
    [
      'a called workflow that leaves for good, so that its caller is never reached',
      {
        'START.md': 'Say <call-workflow return="END.md">../lib</call-workflow>.',
        'END.md': END,
        'lib/START.md': 'Say <reset-workflow>../deep</reset-workflow>.',
        'deep/START.md': END,
      },
      ['never-returns START.md:1:5'],
    ],
    [
      'a state of a called workflow that others may enter',
      {
        'START.md': 'Say <call-workflow return="END.md">../lib</call-workflow>.',
        'END.md': END,
        'lib/START.md': END,
        'lib/OTHER.md': END,
      },
      [],
    ],
    [
      'an attribute that a call into a workflow does not take',
      {
        'START.md': 'Say <call-workflow return="END.md" cd="x">../lib</call-workflow>.',
        'END.md': END,
        'lib/START.md': END,
      },
      ['misplaced-attribute START.md:1:5'],
    ],
    [
      'a call without a state to return to',
      { 'START.md': 'Say <call-workflow>../lib</call-workflow>.', 'lib/START.md': END },
      ['missing-attribute START.md:1:5'],
    ],
  ]));
