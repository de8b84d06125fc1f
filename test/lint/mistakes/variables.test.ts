import { describe } from 'vitest';
import { bash, check, END, policy } from './check.ts';

describe('variables:', () =>
  check([
    [
      'one that nothing sets',
      { 'START.md': 'When done with {{item}}: <result>x</result>' },
      ['undefined-variable START.md:1:16'],
    ],
    [
      'one that every run has',
      { 'START.md': 'When done with {{item}}: <result>x</result>' },
      [],
      { variables: ['item'] },
    ],
    [
      'the folders of tasks and runs, and `task` where it says which',
      {
        'START.sh': bash(
          'cd "$RAYMOND_TASK_FOLDER" "$RAYMOND_RUN_FOLDER" "$RAYMOND_VISIT"',
          'echo "<fork next=\\"END\\" task=\\"inherit\\">W</fork>"',
        ),
        'W.md': 'Work in {{task_folder}} and {{run_folder}} on {{task}}. Then <reset task="new">END</reset>',
        'END.md': END,
      },
      ['undefined-variable W.md:1:47'],
    ],
    [
      'one that is misspelt',
      {
        'START.md': 'Then <fork next="END" item="a">W</fork>.',
        'W.md': 'When done with {{itme}}: <result>x</result>',
        'END.md': END,
      },
      ['undefined-variable W.md:1:16'],
    ],
    [
      'one that lasts for the life of a worker',
      {
        'START.md': 'Then <fork next="END" item="a">W</fork>.',
        'W.md': 'If so <call return="V">V</call>, else <reset>V</reset>',
        'V.md': 'When done with {{item}}: <result>x</result>',
        'END.md': END,
      },
      [],
    ],
    [
      'one that the first agent does not have',
      { 'START.md': 'Then <fork next="W" item="a">W</fork>.', 'W.md': 'When done with {{item}}: <result>x</result>' },
      ['undefined-variable W.md:1:16'],
    ],
    [
      'one that one of two forks forgets',
      {
        'START.sh': bash('echo \'<fork next="END" item="a">W</fork>\'', 'echo \'<fork next="END">W</fork>\''),
        'W.md': 'When done with {{item}}: <result>x</result>',
        'END.md': END,
      },
      ['undefined-variable W.md:1:16'],
    ],
    [
      'one that is not passed on to workers of a worker',
      {
        'START.md': 'Then <fork next="END" item="a">W</fork>.',
        'W.md': 'Once {{item}} is known <fork next="END">V</fork>',
        'V.md': 'When done with {{item}}: <result>x</result>',
        'END.md': END,
      },
      ['undefined-variable V.md:1:16'],
    ],
    [
      'one that a policy leaves to the agent',
      {
        'START.md': policy(
          ['tag: fork, target: W, next: END', 'tag: result'],
          'If so <fork next="END">W</fork> with `item` set, else <result>x</result>',
        ),
        'W.md': 'When done with {{item}}: <result>x</result>',
        'END.md': END,
      },
      [],
    ],
    [
      'one that nothing sets where a script computes the next state',
      {
        'START.sh': bash('echo "<goto>$(cat next)</goto>"'),
        'A.md': 'When done with {{who}}: <result>x</result>',
      },
      ['undefined-variable A.md:1:16'],
    ],
    [
      'one that every run has, where a script computes the next state',
      {
        'START.sh': bash('echo "<goto>$(cat next)</goto>"'),
        'A.md': 'When done with {{who}}: <result>x</result>',
      },
      [],
      { variables: ['who'] },
    ],
    [
      'one that a fork to a computed state gives',
      {
        'START.sh': bash("echo \"<fork next='END' who='me'>$(cat next)</fork>\""),
        'A.md': 'When done with {{who}}: <result>x</result>',
        'END.md': END,
      },
      [],
    ],
    [
      'another one than a fork to a computed state gives',
      {
        'START.sh': bash("echo \"<fork next='END' whom='me'>$(cat next)</fork>\""),
        'A.md': 'When done with {{who}}: <result>x</result>',
        'END.md': END,
      },
      ['undefined-variable A.md:1:16'],
    ],
    [
      'what a fork with computed attributes may give',
      {
        'START.sh': bash('echo "<fork next=\'END\' $(cat given)>$(cat next)</fork>"'),
        'A.md': 'When done with {{who}}: <result>x</result>',
        'END.md': END,
      },
      [],
    ],
    [
      'what a script that may print anything may give',
      { 'START.sh': bash('exec ./decide.py'), 'A.md': 'When done with {{who}}: <result>x</result>' },
      [],
    ],
    [
      'what a fork that is only talked about may give',
      {
        'START.md': 'Then answer with a <fork> for each file, and one <goto>END.md</goto>.',
        'W.md': 'When done with {{who}}: <result>x</result>',
        'END.md': END,
      },
      [],
    ],
    [
      'one that a fork in inline code may forget',
      {
        'START.md': 'Then <fork next="END" item="a">W</fork>. The form is `<fork next="END">W</fork>`.',
        'W.md': 'When done with {{item}}: <result>x</result>',
        'END.md': END,
      },
      [],
    ],
    [
      'those that are always there',
      { 'START.md': 'You are {{agent_id}} of {{workflow_id}} in {{state}}; when done <result>x</result>' },
      [],
    ],
    [
      'what is no variable',
      { 'START.md': 'Write \\{{item}} and ${{ secrets.X }} and {{ .Values.x }}; when done <result>x</result>' },
      [],
    ],
    ['a result in the first state', { 'START.md': 'When done with {{result}}: <result>x</result>' }, []],
    [
      'a result that nothing hands over',
      { 'START.md': 'Then <goto>A</goto>.', 'A.md': 'When done with {{result}}: <result>x</result>' },
      ['undefined-result A.md:1:16'],
    ],
    [
      'a result two states after the return',
      {
        'START.md': 'Then <call return="A">END</call>.',
        'A.md': 'Then <goto>B</goto>.',
        'B.md': 'When done with {{ result }}: <result>x</result>',
        'END.md': END,
      },
      ['undefined-result B.md:1:16'],
    ],
    [
      'a result that nothing hands to a script',
      { 'START.md': 'Then <goto>A</goto>.', 'A.sh': '#!/bin/bash\necho "<result>$RAYMOND_RESULT</result>"' },
      ['undefined-result A.sh:2:15'],
    ],
    [
      'an input that nothing hands to a script in its file',
      {
        'START.md': 'Then <goto>A</goto>.',
        'A.sh': '#!/bin/bash\ncat "${RAYMOND_RESULT_FILE}"; echo "<result>x</result>"',
      },
      ['undefined-result A.sh:2:6'],
    ],
    [
      'a result that a script may do without, or sets itself',
      {
        'START.md': 'Then <goto>A</goto>.',
        'A.sh': '#!/bin/bash\necho "${RAYMOND_RESULT:-none}"; echo "<goto>B</goto>"',
        'B.sh': '#!/bin/bash\n[ -n "$RAYMOND_INPUT" ] && echo "$RAYMOND_INPUT"; echo "<goto>C</goto>"',
        'C.sh': '#!/bin/bash\nRAYMOND_INPUT=3\necho "<result>$RAYMOND_INPUT</result>"',
      },
      [],
    ],
    [
      'a result that a call brings to a script',
      {
        'START.md': 'Then <call return="A">END</call>.',
        'A.sh': '#!/bin/bash\necho "<result>$RAYMOND_RESULT</result>"',
        'END.md': END,
      },
      [],
    ],
    [
      'a result of a call',
      {
        'START.md': 'Then <call return="A">END</call>.',
        'A.md': 'When done with {{result}}: <result>x</result>',
        'END.md': END,
      },
      [],
    ],
    [
      'an input',
      {
        'START.md': 'Then <goto input="3 tests fail">A</goto>.',
        'A.md': 'When done with {{input}}: <result>x</result>',
      },
      [],
    ],
    [
      'an input that an item of a file may have',
      {
        'START.sh': `#!/bin/bash\necho '<fork-each in="a.jsonl">A</fork-each><join>END</join>'`,
        'A.md': 'When done with {{input}}: <result>x</result>',
        'END.md': END,
      },
      [],
    ],
    [
      'an input that the prompt speaks of',
      {
        'START.md': policy(
          ['tag: goto, target: A', 'tag: result'],
          'If so <goto>A</goto> with the summary as `input`, else <result>x</result>',
        ),
        'A.md': 'When done with {{input}}: <result>x</result>',
      },
      [],
    ],
    [
      'an input that goes to the worker, not to next',
      {
        'START.md': 'Then <fork next="A" input="x">END</fork>.',
        'A.md': 'When done with {{input}}: <result>x</result>',
        'END.md': END,
      },
      ['undefined-result A.md:1:16'],
    ],
  ]));

/** A script that goes one of two ways. */
const either = (one: string, other: string): string =>
  bash(`if [ -e a ]; then echo '${one}'; else echo '${other}'; fi`);
const uses = (variable: string): string => `Work on ${variable}. When all is done, answer with <result>done</result>.`;

describe('a variable that only one of two paths sets:', () =>
  check([
    [
      'by a fork',
      { 'START.sh': either('<fork next="END" x="1">W</fork>', '<goto>W</goto>'), 'W.md': uses('{{x}}'), 'END.md': END },
      ['undefined-variable W.md:1:9'],
    ],
    [
      'by one of two forks of a prompt',
      {
        'START.md': 'If so <fork next="END" x="1">W</fork>, else <fork next="END">W</fork>.',
        'W.md': uses('{{x}}'),
        'END.md': END,
      },
      ['undefined-variable W.md:1:9'],
    ],
    [
      'by one of two forks that a policy permits',
      {
        'START.md': policy(
          ['tag: fork, target: W, next: END, x: 1', 'tag: fork, target: W, next: END'],
          'If so <fork next="END" x="1">W</fork>, else <fork next="END">W</fork>.',
        ),
        'W.md': uses('{{x}}'),
        'END.md': END,
      },
      ['undefined-variable W.md:1:9'],
    ],
    [
      'by one of two forks that one entry permits',
      {
        'START.md': policy(
          ['tag: fork, target: W', 'tag: result'],
          'If so <fork next="END" x="1">W</fork>, else <fork next="END" y="1">W</fork>, else <result>no</result>.',
        ),
        'W.md': uses('{{x}}'),
        'END.md': END,
      },
      ['undefined-variable W.md:1:9'],
    ],
    [
      'not where one entry permits a fork whose form is in inline code',
      {
        'START.md': policy(
          ['tag: fork, target: W', 'tag: result'],
          'Then <fork next="END" x="1">W</fork> or <result>no</result>. The form is `<fork next="END">W</fork>`.',
        ),
        'W.md': uses('{{x}}'),
        'END.md': END,
      },
      [],
    ],
    [
      'by the items of a file',
      {
        'START.sh': either('<fork-each next="END" in="a.json">W</fork-each>', '<goto>W</goto>'),
        'W.md': uses('{{x}}'),
        'END.md': END,
      },
      ['undefined-variable W.md:1:9'],
    ],
    [
      'in a script',
      {
        'START.sh': either('<fork next="END" x="1" y="2" z="3">W</fork>', '<goto>W</goto>'),
        'W.sh': bash('y=4', 'echo "<result>$x $y ${z:-none}</result>"'),
        'END.md': END,
      },
      ['undefined-variable W.sh:3:15'],
    ],
    [
      'a result: by an input, by a call',
      {
        'START.sh': either('<goto input="i">V</goto>', '<goto>V</goto>'),
        'V.md': 'Work on {{input}}. Then <call return="W">C</call>, or <goto>W</goto>.',
        'C.md': END,
        'W.sh': bash('echo "<result>$RAYMOND_RESULT</result>"'),
      },
      ['undefined-result V.md:1:9', 'undefined-result W.sh:2:15'],
    ],
    [
      'by a join, by a question',
      {
        'START.sh': either('<ask next="W">Well?</ask>', '<fork next="J">END</fork>'),
        'J.sh': either('<join>W</join>', '<goto>W</goto>'),
        'W.md': uses('{{ask_id}} {{results}}'),
        'END.md': END,
      },
      ['undefined-variable W.md:1:9', 'undefined-variable W.md:1:20'],
    ],
    [
      'not where forks and a join are one answer',
      {
        'START.md': policy(
          ['tag: fork, target: END, next: W', 'tag: join, target: W'],
          'Answer with <fork next="W">END</fork> and <join>W</join>.',
        ),
        'W.md': uses('{{results}}'),
        'END.md': END,
      },
      [],
    ],
  ]));

describe('variables of a join, a question and a guard:', () =>
  check([
    [
      'where they lead',
      {
        'START.md': 'Then <fork item="a">W</fork> <join timeout="1h" timeout_next="LATE">SUM</join>.',
        'W.md': '---\non: { error: FIX }\n---\nThen <ask next="DONE">Really?</ask>.',
        'SUM.sh': '#!/bin/bash\ncat "$RAYMOND_RESULTS_FILE"; echo "<result>x</result>"',
        'LATE.md': '{{results}} {{results_file}} <result>x</result>',
        'FIX.sh': '#!/bin/bash\necho "<result>$RAYMOND_ERROR</result>"',
        'DONE.md': '{{ask_id}} <result>x</result>',
      },
      [],
    ],
    [
      'where they do not lead',
      {
        'START.md': 'Then <fork item="a">W</fork> <join>SUM</join>.',
        'W.md': 'After {{results}} and {{results}}, <ask next="DONE">Really?</ask>.',
        'SUM.md': 'Then <goto>LAST</goto>.',
        'LAST.sh': '#!/bin/bash\ncat "$RAYMOND_RESULTS_FILE"; echo "<result>$RAYMOND_ERROR</result>"',
        'DONE.md': '{{error}} <goto>MORE</goto>.',
        'MORE.md': '{{ask_id}} <result>x</result>',
      },
      [
        'undefined-variable DONE.md:1:1',
        'undefined-variable LAST.sh:2:6',
        'undefined-variable LAST.sh:2:44',
        'undefined-variable MORE.md:1:1',
        'undefined-variable W.md:1:7',
      ],
    ],
    [
      'where a script is prepared for a missing one, or may print anything',
      {
        'START.sh': '#!/bin/bash\n./decide',
        'A.sh': '#!/bin/bash\necho "${RAYMOND_ERROR:-fine} $(cat "$RAYMOND_RESULTS_FILE")"; echo "<result>x</result>"',
      },
      [],
    ],
  ]));

const countWith = (schema: string): string =>
  `---\nresult_schema: ${schema}\n---\nCount. Then <result>{"count": 1}</result>.`;
const CALL = 'Then <call return="END">COUNT</call>.';
const usesOf = (...names: readonly string[]): string =>
  `${names.map((name) => `{{result.${name}}}`).join(' ')} <result>x</result>`;

describe('parts of a result:', () =>
  check([
    [
      'fields that the schema has, however deep',
      {
        'START.md': CALL,
        'COUNT.md': countWith(
          '{ properties: { a: { $ref: "#/$defs/a" }, l: { type: array, items: { properties: { b: {} } } } }, $defs: { a: { properties: { b: true } } } }',
        ),
        'END.md': usesOf('a', 'a.b.c', 'l.0.b'),
      },
      [],
    ],
    [
      'fields that it does not have',
      {
        'START.md': CALL,
        'COUNT.md': countWith('{ properties: { a: { type: string }, l: { type: array } } }'),
        'END.md': usesOf('b', 'a.b', 'l.b', 'b'),
      },
      ['missing-field END.md:1:1', 'missing-field END.md:1:14', 'missing-field END.md:1:29'],
    ],
    [
      'schemas that leave open what there is',
      {
        'START.md': CALL,
        'COUNT.md': countWith('{ properties: { a: { anyOf: [{}] } }, additionalProperties: true }'),
        'END.md': usesOf('b', 'a.b'),
      },
      [],
    ],
    [
      'a part of a result that nothing hands over',
      { 'START.md': 'Then <goto>END</goto>.', 'END.md': usesOf('b') },
      ['undefined-result END.md:1:1'],
    ],
  ]));
