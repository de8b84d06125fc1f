import { describe } from 'vitest';
import { bash, check, END, policy } from './check.ts';

describe('unknown tags:', () =>
  check([
    [
      'another word for continuing, which leaves no way out',
      { 'START.md': 'When done, answer with <next>END.md</next>.', 'END.md': END },
      ['no-way-out START.md:1:1'],
    ],
    [
      'another word for continuing, which leads nowhere',
      { 'START.md': 'When done <jump>END</jump>, or <result>x</result>.', 'END.md': END },
      ['unreachable-state END.md:0:0'],
    ],
    ['a misspelt result', { 'START.md': 'When done <resutl>ok</resutl>.' }, ['unknown-tag START.md:1:11']],
    [
      'a misspelt result beside a proper tag',
      { 'START.md': 'If so <goto>END.md</goto>, else <reslt>ok</reslt>.', 'END.md': END },
      ['unknown-tag START.md:1:33'],
    ],
    [
      'a misspelt result that is closed properly',
      { 'START.md': 'If so <goto>END.md</goto>, else <resutl>ok</result>.', 'END.md': END },
      ['unknown-tag START.md:1:33'],
    ],
    [
      'a misspelt tag that a script prints',
      {
        'START.sh': bash('if make; then', '  echo "<result>x</result>"', 'else', '  echo "<resest>END</resest>"', 'fi'),
        'END.md': END,
      },
      ['unknown-tag START.sh:5:9'],
    ],
    [
      'a tag to ask people with, which exists',
      { 'START.md': 'If so <ask next="END.md">a question</ask>, else <goto>END.md</goto>.', 'END.md': END },
      [],
    ],
    [
      'a tag to shorten the conversation with, which exists',
      { 'START.sh': bash('echo "<compact>END.md</compact>"'), 'END.md': END },
      [],
    ],
  ]));

describe('other markup that is not a mistake:', () =>
  check([
    ['words that are near to a tag', { 'START.md': 'See <resume>A</resume>. When done <result>x</result>.' }, []],
    [
      'a word for what a state is',
      {
        'START.md': 'Note <state>END</state>. When done <goto>A</goto>.',
        'A.md': 'When done <goto>END</goto>.',
        'END.md': END,
      },
      [],
    ],
    ['results', { 'START.md': 'See <results>the list</results>. When done <result>x</result>.' }, []],
    [
      'a file that has the name of a state',
      {
        'START.md': 'Read <file>END.md</file>. When done <goto>LAST</goto>.',
        'LAST.md': '<goto>END</goto>',
        'END.md': END,
      },
      [],
    ],
    [
      'a word around a name that a tag has as well',
      { 'START.md': 'The <next>END.md</next> step: answer with <goto>END.md</goto> when done.', 'END.md': END },
      [],
    ],
    [
      'an example in a code block',
      {
        'START.md': 'Not so:\n```\n<next>END.md</next>\n```\nWhen done <goto>LAST</goto>.',
        'LAST.md': 'When done <goto>END</goto>.',
        'END.md': END,
      },
      [],
    ],
    [
      'what stands within a result',
      {
        'START.md': 'When done <goto>LAST</goto>.',
        'LAST.md': 'When done <goto>END</goto> or <result><next>END.md</next></result>.',
        'END.md': END,
      },
      [],
    ],
    [
      'what a script writes elsewhere',
      {
        'START.sh': bash('echo "<next>END.md</next>" > list.xml', 'echo "<goto>LAST</goto>"'),
        'LAST.md': 'When done <goto>END</goto>.',
        'END.md': END,
      },
      [],
    ],
  ]));

describe('a tag without a state name:', () =>
  check([
    ['in a script', { 'START.sh': bash('echo "<goto></goto>"') }, ['missing-state START.sh:2:7']],
    [
      'in a prompt, where the agent is to fill it in',
      { 'START.md': 'If so <goto></goto>, else <result>x</result>.' },
      [],
    ],
    [
      'because an attribute has it',
      { 'START.md': 'When done, answer with <goto target="END.md"/>.', 'END.md': END },
      ['missing-state START.md:1:24'],
    ],
    ['in talk about the tag', { 'START.md': 'Use a <goto></goto> tag, or <result>x</result> when done.' }, []],
    ['in code', { 'START.md': 'Choose `<goto></goto>` or `<result>x</result>` when done.' }, []],
    [
      'that is named beside it',
      {
        'START.md': 'When done <goto></goto> with END.md, or <result>x</result>.',
        'END.md': 'If so <goto>START</goto>.',
      },
      [],
    ],
    [
      'that the policy names',
      {
        'START.md': policy(
          ['tag: goto, target: END.md', 'tag: result'],
          'When END is due <goto></goto>, else <result>x</result>.',
        ),
        'END.md': END,
      },
      [],
    ],
  ]));

describe('a template in a script:', () =>
  check([
    [
      'as the name of a state',
      {
        'START.sh': bash('echo \'<fork next="END" step="END.md">WORK</fork>\''),
        'WORK.sh': bash('echo "<goto>{{step}}</goto>"'),
        'END.md': END,
      },
      ['missing-state WORK.sh:2:7'],
    ],
    [
      'as a folder',
      { 'START.sh': bash('echo \'<reset cd="{{dir}}">END</reset>\''), 'END.md': END },
      ['bad-attribute START.sh:2:7'],
    ],
    ['as what is handed over', { 'START.sh': bash('echo \'<reset input="{{x}}">END</reset>\''), 'END.md': END }, []],
  ]));

describe('an attribute:', () =>
  check([
    [
      'a folder without a name, which is no change of folder',
      { 'START.sh': bash('echo \'<reset cd="">END</reset>\''), 'END.md': END },
      [],
    ],
    [
      'a misspelt return',
      { 'START.md': 'When done <call retrun="END">A</call>, or <goto>END</goto>.', 'A.md': END, 'END.md': END },
      ['missing-attribute START.md:1:11'],
    ],
    [
      'next on a call',
      { 'START.md': 'When done <call next="END">A</call>, or <goto>END</goto>.', 'A.md': END, 'END.md': END },
      ['misplaced-attribute START.md:1:11'],
    ],
    [
      'return on a fork',
      { 'START.md': 'When done <fork return="END">A</fork>, or <goto>END</goto>.', 'A.md': END, 'END.md': END },
      ['misplaced-attribute START.md:1:11'],
    ],
  ]));
