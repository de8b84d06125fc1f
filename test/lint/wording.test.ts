import { describe, expect, test } from 'vitest';
import type { WorkflowSource } from '../../src/graph/workflow-source.ts';
import { lintSource } from '../../src/lint/lint.ts';
import { bash, END, policy } from './mistakes/check.ts';
import { type Files, sourceOf } from './source-of.ts';

/** The findings of one rule in words. */
const say = (rule: string, files: Files, changes: Partial<WorkflowSource> = {}) =>
  lintSource(sourceOf(files, changes)).flatMap((found) => (found.rule === rule ? [[found.message, found.hint]] : []));

test('a forbidden tag is shown with its attributes and the most similar entry', () => {
  const files = {
    'START.md': policy(
      ['tag: call, target: W.md, return: START.md', 'tag: result'],
      'When ready <call return="FIN.md">W.md</call>, else <result>x</result>.',
    ),
    'W.md': END,
    'FIN.md': END,
  };
  expect(say('forbidden-tag', files)).toStrictEqual([
    [
      'the prompt mentions `<call return="FIN.md">W.md</call>`, which its `allowed_transitions` do not permit; ' +
        'they permit `<call return="START.md">W.md</call>`',
      'Add it to the `allowed_transitions`, or take it out of the prompt.',
    ],
  ]);
});

test('a script of another system that has a namesake for this one is named without its extension', () => {
  const files = {
    'START.md': 'Then answer <goto>X.sh</goto> or <goto>Y.sh</goto>.',
    'X.sh': bash('echo "<result>x</result>"'),
    'Y.sh': bash('echo "<result>x</result>"'),
    'X.ps1': 'Write-Output "<result>x</result>"',
  };
  expect(say('foreign-state', files, { platform: 'windows' })).toStrictEqual([
    [
      '`<goto>X.sh</goto>`: the state `X.sh` is only for Unix; without its extension, `X` is X.ps1 here',
      'Write X: then each system runs its own script.',
    ],
    [
      '`<goto>Y.sh</goto>`: the state `Y.sh` exists only for Unix (Y.sh); add Y.ps1 or Y.bat to run it here',
      'Add the script for Windows; if the workflow is not for Windows, lint it with --platform unix.',
    ],
  ]);
});

test('a forbidden tag without a similar entry is shown alone', () => {
  const files = {
    'START.md': policy(['tag: goto, target: END.md', 'tag: reset, target: END.md'], 'When done <result>x</result>.'),
    'END.md': END,
  };
  expect(say('forbidden-tag', files).map(([message]) => message)).toStrictEqual([
    'the prompt mentions `<result>`, which its `allowed_transitions` do not permit',
  ]);
});

test.each([
  ['keep', ' stack="clear"', 'Remove stack="clear" from the <reset> of EVAL.md, so that its callers get their result.'],
  ['clear', '', 'Write stack="keep" on the <reset> of EVAL.md: without it, the return stack is cleared here.'],
] as const)(
  'the hint for a call that never returns names what clears the stack, if a reset would %s it',
  (resetStack, given, hint) => {
    const files = {
      'START.md': 'Then answer <call return="END.md">EVAL.md</call>.',
      'EVAL.md': `When done <reset${given}>END.md</reset>.`,
      'END.md': END,
    };
    expect(say('never-returns', files, { resetStack }).map(([, said]) => said)).toStrictEqual([hint]);
  },
);

test.each([
  ['reply with the bare grade in a `result` tag', 0],
  ['put the grade between result tags', 0],
  ['answer with an XML element named result', 0],
  ['answer with a tag called "result"', 0],
  ['write down the result of your work', 0],
  ['write down what you found', 1],
])('a result may be described in words: %s', (words, count) => {
  expect(say('unmentioned-entry', { 'START.md': policy(['tag: result'], `When done, ${words}.`) })).toHaveLength(count);
});

describe('an undefined variable', () => {
  const WORKER = 'Do {{item}}. When done <result>x</result>.';

  test('in the next state of the parent is reported as defined only for the worker', () => {
    const files = {
      'START.md': 'Then <fork next="P.md" item="a">W.md</fork>.',
      'W.md': WORKER,
      'P.md': 'See {{item}}. When done <result>x</result>.',
    };
    expect(say('undefined-variable', files)).toStrictEqual([
      [
        '{{item}} is not set on this path to P.md: START.md –fork W.md, next→ P.md',
        'Only the worker of a <fork> with item="…" has it: send the others to another state, or start the run with --var item=….',
      ],
    ]);
  });

  test('in a state shared by worker and parent is reported as defined only for the worker', () => {
    const files = {
      'START.md': 'Then <fork next="P.md" item="a">W.md</fork>.',
      'P.md': 'Then <goto>W.md</goto>.',
      'W.md': WORKER,
    };
    expect(say('undefined-variable', files)).toStrictEqual([
      [
        '{{item}} is not set on this path to W.md: START.md –fork W.md, next→ P.md –goto→ W.md',
        'Only the worker of a <fork> with item="…" has it: send the others to another state, or start the run with --var item=….',
      ],
    ]);
  });

  test('for one of two workers is reported at the fork that omits it', () => {
    const files = {
      'START.sh': bash('echo \'<fork next="END" item="a">W</fork>\'', 'echo \'<fork next="END">W</fork>\''),
      'W.md': WORKER,
      'END.md': END,
    };
    expect(say('undefined-variable', files)).toStrictEqual([
      [
        '{{item}} is not set on this path to W.md: START.sh –fork→ W.md',
        'Add item="…" to the <fork> of W.md in START.sh, line 3: a worker has only what its own <fork> sets.',
      ],
    ]);
  });

  test('for an agent that no fork has started may come from the run', () => {
    const files = {
      'START.md': 'Then <fork next="END.md" item="a">W.md</fork>, or <goto>W.md</goto>.',
      'W.md': WORKER,
      'END.md': END,
    };
    expect(say('undefined-variable', files)).toStrictEqual([
      [
        '{{item}} is not set on this path to W.md: START.md –goto→ W.md',
        'Only the worker of a <fork> with item="…" has it: send the others to another state, ' +
          'or start the run with --var item=….',
      ],
    ]);
  });

  test('in the first state is reported without a path', () => {
    const files = { 'START.md': 'Take {{item}}. Then <fork next="END.md" item="a">END.md</fork>.', 'END.md': END };
    expect(say('undefined-variable', files).map(([message]) => message)).toStrictEqual([
      '{{item}} is not set in START.md, where the run begins',
    ]);
  });

  test('in a state chosen by a script is reported if no fork defines it', () => {
    const files = {
      'START.sh': bash('echo "<goto>$(cat next)</goto>"'),
      'A.md': WORKER,
    };
    expect(say('undefined-variable', files).map(([message]) => message)).toStrictEqual([
      'nothing sets {{item}}: no <fork> of this workflow gives it',
    ]);
  });
});

test.each([
  ['only there', 'Like this:\n```\n{{title}}\n```\nWhen done <result>x</result>.', 'info'],
  ['elsewhere, too', 'For {{title}}:\n```\n{{title}}\n```\nWhen done <result>x</result>.', 'warning'],
  ['by a slip', 'Like this:\n```\n{{reslut}}\n```\nWhen done <result>x</result>.', 'warning'],
])('a variable in a code block of a prompt, %s, may be part of an example', (_, text, level) => {
  const found = lintSource(sourceOf({ 'START.md': text })).filter(({ rule }) => rule === 'undefined-variable');
  expect(found.map((finding) => finding.level)).toStrictEqual([level]);
});

test('the hint for a variable that is only mentioned says how to escape it', () => {
  const files = { 'START.md': 'Like this:\n```\n{{title}}\n```\nWhen done <result>x</result>.' };
  expect(say('undefined-variable', files)).toStrictEqual([
    [
      'nothing sets {{title}}, which is in a code block',
      'Write \\{{title}} if it is meant literally: then no run warns about it.',
    ],
  ]);
});

test('the hint for an implicit fork says that it starts one worker', () => {
  const files = { 'START.md': policy(['tag: fork, target: END.md, next: END.md'], 'Stop after this.'), 'END.md': END };
  expect(say('implicit-transition', files).map(([, hint]) => hint)).toStrictEqual([
    'The prompt does not have to ask for a tag; it only has to say when to stop. One worker starts, with only the variables ' +
      'that the `allowed_transitions` give; for more, the prompt has to ask for the tags.',
  ]);
});

test.each([
  ['CHANGELOG.md', 'Changes.', 'info'],
  ['TODO.md', 'Mend it.', 'info'],
  ['TODO.md', policy(['tag: result'], END), 'warning'],
  ['MORE.md', 'Mend it.', 'warning'],
])('%s is unreachable and may not be a state', (file, text, level) => {
  const found = lintSource(sourceOf({ 'START.md': END, [file]: text }));
  expect(found.map((finding) => [finding.rule, finding.level])).toStrictEqual([['unreachable-state', level]]);
});

test.each([
  ['START.sh', '…', bash('echo "<goto>STYLE_${1}.md</goto>"')],
  ['START.md', '{{result}}', 'When done <goto>STYLE_{{result}}.md</goto>.'],
])('the message for an impossible name has its known parts: %s', (file, hole, text) => {
  expect(say('missing-state', { [file]: text })).toStrictEqual([
    [
      `\`<goto>STYLE_${hole}.md</goto>\`: no state of this workflow is named like \`STYLE_….md\``,
      'Add such a state, or correct the known part of the name.',
    ],
  ]);
});

test('unreachable states behind another one are only counted', () => {
  const files = {
    'START.md': END,
    'A.md': 'When done <goto>B.md</goto>.',
    'B.md': 'When done <goto>C.md</goto>.',
    'C.md': END,
    'D.md': 'When done <goto>E.md</goto>.',
    'E.md': END,
  };
  expect(say('unreachable-state', files).map(([message]) => message)).toStrictEqual([
    'nothing leads to A.md from START.md, nor to the 2 states behind it',
    'nothing leads to D.md from START.md, nor to E.md behind it',
  ]);
});

describe('an endless loop', () => {
  test('is shown with all its states, and those outside of the shown cycle are named', () => {
    const files = {
      'START.sh': bash(
        'case $1 in',
        'a) echo "<goto>A</goto>";;',
        'b) echo "<goto>B</goto>";;',
        '*) echo "<goto>START</goto>";;',
        'esac',
      ),
      'A.md': 'When done <goto>START</goto>.',
      'B.md': 'When done <goto>START</goto>.',
    };
    expect(say('endless-loop', files).map(([message]) => message)).toStrictEqual([
      'this loop has no way out: START.sh –goto→ B.md –goto→ START.sh, and A.md, which it also leads to, never reaches a <result> either',
    ]);
  });

  test('marks a transition with a computed name', () => {
    const files = {
      'START.sh': bash('echo "<goto>$(cat next)</goto>"'),
      'A.md': 'When done <goto>START</goto>.',
    };
    expect(say('endless-loop', files).map(([message]) => message)).toStrictEqual([
      'this loop has no way out: START.sh –goto (computed)→ A.md –goto→ START.sh',
    ]);
  });
});

test.each([
  ['CHECK.bash', 'Rename it to CHECK.sh, and write that name here.'],
  ['CHEKC.md', 'Change it to CHECK.md.'],
  ['GHOST.md', 'Add a state GHOST.md to the workflow, or name one that exists.'],
])('the hint for a missing state, %s, has one fix', (name, hint) => {
  const files = {
    'START.md': `When done <goto>${name}</goto> or <goto>CHECK.md</goto>.`,
    'CHECK.md': END,
    'CHECK.bash': '',
  };
  expect(say('missing-state', files).map(([, said]) => said)).toStrictEqual([hint]);
});

test.each([
  ['---\nallowed_transitions: []\n---\nStop then.', 'its `allowed_transitions` are empty'],
  ['Stop then.', 'it has no `allowed_transitions`'],
])('the message for a prompt without a transition describes its policy: %j', (text, why) => {
  expect(say('no-way-out', { 'START.md': text }).map(([message]) => message)).toStrictEqual([
    `there is no way out of START.md: the prompt names no tag to answer with, and ${why}`,
  ]);
});

test.each([
  ['<call retrun="END">A</call>', 'missing-attribute', 'Write `return` instead of `retrun`.'],
  ['<call next="END">A</call>', 'misplaced-attribute', 'Write `return="END"` instead.'],
  ['<fork return="END">A</fork>', 'misplaced-attribute', 'Write `next="END"` instead.'],
  ['<goto target="A.md"/>', 'missing-state', 'Write <goto>A.md</goto>.'],
  ['<resutl>x</resutl>', 'unknown-tag', 'Write <result>…</result>.'],
])('the replacement for %s is suggested once', (tag, rule, hint) => {
  const files = {
    'START.md': `If so ${tag}, else <goto>END</goto>.`,
    'A.md': END,
    'END.md': 'If so <reset>A</reset>.',
  };
  expect(lintSource(sourceOf(files)).map((found) => [found.rule, found.hint])).toStrictEqual([[rule, hint]]);
});

test('an unclosed quote is reported instead of an unclosed tag', () => {
  const files = {
    'START.md': 'When done <fork next="END item="a">A</fork> or <result>x</result>.',
    'A.md': END,
    'END.md': END,
  };
  expect(say('unclosed-tag', files)).toStrictEqual([
    ['a quote in the attributes of this `<fork>` is never closed', 'Close it after the value.'],
  ]);
});

test.each([
  ['if [ -e a ]; then echo "<result>x</result>"; fi', 'no condition of this `if` holds'],
  ['case $x in a) echo "<result>x</result>" ;; esac', 'no pattern of this `case` fits'],
  [
    'while read -r l; do if [ "$l" = a ]; then echo "<result>x</result>"; exit; fi; done < b',
    'this loop comes to its end',
  ],
  ['for i in $(seq 9); do if [ -e a ]; then echo "<result>x</result>"; exit; fi; done', 'this loop comes to its end'],
  ['[ -e a ] && echo "<result>x</result>"; true', 'this fails'],
  ['[ -e a ] || echo "<result>x</result>"', 'this succeeds'],
  ['case $x in a) ;; *) echo "<result>x</result>" ;; esac', 'it gets here'],
  ['if [ -e a ]; then exit; fi; echo "<result>x</result>"', 'it exits here'],
  ['if [ -e a ]; then sleep 1; else echo "<result>x</result>"; fi', 'it gets here'],
])('a path without a tag is described by its condition: %s', (line, when) => {
  expect(say('silent-path', { 'START.sh': bash(line) }).map(([message]) => message)).toStrictEqual([
    `the script can end without printing a tag, for example when ${when}`,
  ]);
});

test.each([
  ['echo "<result>x</result>"; echo "<result>y</result>"', 'the script prints', 'error'],
  ['if [ -e a ]; then echo "<result>x</result>"; fi; echo "<result>y</result>"', 'the script can print', 'warning'],
])('two tags on every path are an error: %s', (line, words, level) => {
  const [found] = lintSource(sourceOf({ 'START.sh': bash(line) }));
  expect(found).toMatchObject({ rule: 'several-tags', level, message: expect.stringContaining(words) });
});

test('an undefined variable is reported with the variables that forks define', () => {
  const files = {
    'START.md': 'When done <fork next="END" item="x">W</fork>.',
    'W.md': 'Look at {{doc}}. When done <result>x</result>.',
    'END.md': END,
  };
  expect(say('undefined-variable', files).map(([message]) => message)).toStrictEqual([
    'nothing sets {{doc}}: no <fork> of this workflow gives it; they give {{item}}',
  ]);
});

test.each([
  ['LOOK.py', 'Run LOOK.py from a script such as LOOK.sh, and name that script here.'],
  ['LOOK.MD', 'Rename LOOK.MD to LOOK.md: upper and lower case count, also in the ending.'],
])('the hint for a missing state whose file is %s', (file, hint) => {
  const name = file === 'LOOK.MD' ? 'LOOK.md' : file;
  const files = { 'START.md': `When done <goto>${name}</goto>.`, [file]: 'print(1)' };
  expect(say('missing-state', files).map(([, said]) => said)).toStrictEqual([hint]);
});

test('the id of a run is suggested under its own name, in scripts and in prompts', () => {
  const files = {
    'START.sh': bash('echo "<goto input=\\"$RAYMOND_RUN_ID\\">A.md</goto>"'),
    'A.md': `Run {{run_id}}. ${END}`,
  };
  expect(say('undefined-variable', files).map(([message]) => message)).toStrictEqual([
    expect.stringContaining('(did you mean {{workflow_id}}?)'),
    'Raymond does not set `RAYMOND_RUN_ID` (did you mean RAYMOND_WORKFLOW_ID?)',
  ]);
});
