import { describe } from 'vitest';
import { bash, type Case, check, END, policy, SCRIPT } from './check.ts';

describe('frontmatter and policies:', () =>
  check([
    ['an error', { 'START.md': `---\nmax_visits: many\n---\n${END}` }, ['frontmatter START.md:2:13']],
    [
      'a tag that does not exist',
      { 'START.md': policy(['tag: gotto, target: END.md'], END), 'END.md': END },
      ['frontmatter START.md:3:12'],
    ],
    [
      'cd in a policy where it has no meaning',
      { 'START.md': policy(['tag: goto, target: END.md, cd: src'], END), 'END.md': END },
      ['frontmatter START.md:3:34'],
    ],
    ['frontmatter that is never closed', { 'START.md': '---\nmodel: opus\nDo it.' }, ['frontmatter START.md:1:1']],
    ...(
      [
        ['several entries', ['tag: goto, target: END.md', 'tag: result'], '<goto>END.md</goto> or <result>x</result>'],
        ['an open entry', ['tag: goto'], '<goto>END.md</goto>'],
        ['a question', ['tag: ask, next: END.md'], '<ask next="END.md">Well?</ask>'],
        ['a result without its text', ['tag: result'], '<result>x</result>'],
        ['no entries', [], '<goto>END.md</goto>'],
      ] as const
    ).map(([title, entries, tags]): Case => {
      const list = entries.map((entry) => `  - { ${entry} }\n`).join('');
      const keys = `${list === '' ? '' : `allowed_transitions:\n${list}`}force_implicit: true\n`;
      return [
        `a forced transition with ${title}`,
        { 'START.md': `---\n${keys}---\nAnswer with ${tags}.`, ...(tags.includes('END.md') && { 'END.md': END }) },
        [`frontmatter START.md:${list === '' ? 2 : 3 + entries.length}:17`],
      ];
    }),
    [
      'tags that a forced transition ignores',
      {
        'START.md': `---\nallowed_transitions: [{ tag: goto, target: END.md }]\nforce_implicit: yes\n---\nShow how <goto>X</goto> and <goot>END.md</goot> are written, and <fork>`,
        'END.md': END,
      },
      ['implicit-transition START.md:2:23'],
    ],
    [
      'the only transition of a script, which has to print it',
      {
        'START.sh': bash(
          '# ---',
          '# allowed_transitions: [{ tag: goto, target: END.md }]',
          '# ---',
          'echo "<goto>END.md</goto>"',
        ),
        'END.md': END,
      },
      [],
    ],
    [
      'a script that prints no tag, whatever its policy says',
      {
        'START.sh': bash('# ---', '# allowed_transitions: [{ tag: goto, target: END.md }]', '# ---', 'echo done'),
        'END.md': END,
      },
      ['no-way-out START.sh:1:1'],
    ],
    ['an unknown key', { 'START.md': `---\nmax_visit: 3\n---\n${END}` }, ['key-without-effect START.md:2:1']],
    [
      'an unknown model and an unknown effort',
      { 'START.md': `---\nmodel: sonet\neffort: hihg\n---\n${END}` },
      ['unknown-model START.md:2:8', 'unknown-effort START.md:3:9'],
    ],
    ['models and efforts that there are', { 'START.md': `---\nmodel: claude-opus-4-5\neffort: max\n---\n${END}` }, []],
    [
      'an unknown model in a tag',
      { 'START.md': 'Then answer <call return="END" model="gpt-4">END</call>.', 'END.md': END },
      ['unknown-model START.md:1:13'],
    ],
    [
      'a tag that the policy forbids',
      { 'START.md': policy(['tag: result'], 'If so <goto>END.md</goto>, else <result>x</result>.'), 'END.md': END },
      ['forbidden-tag START.md:5:7'],
    ],
    [
      'another value than the policy permits',
      {
        'START.md': policy(
          ['tag: fork, target: END, next: END, model: opus', 'tag: result'],
          'If so <fork next="END" model="haiku">END</fork>, else <result>x</result>.',
        ),
        'END.md': END,
      },
      ['forbidden-tag START.md:6:7'],
    ],
    [
      'another payload than the policy permits',
      {
        'START.md': policy(
          ['tag: result, payload: YES', 'tag: result, payload: NO'],
          'Answer <result>YES</result>, <result>NO</result> or <result>MAYBE</result>.',
        ),
      },
      ['forbidden-tag START.md:6:53'],
    ],
    [
      'a payload that is never mentioned',
      { 'START.md': policy(['tag: result, payload: YES', 'tag: result, payload: NO'], 'Answer <result>YES</result>.') },
      ['unmentioned-entry START.md:4:5'],
    ],
    [
      'values that the policy leaves open',
      {
        'START.md': policy(
          ['tag: fork, target: END', 'tag: result'],
          'If so <fork next="END.md" kind="b">END.md</fork>, else <result>x</result>.',
        ),
        'END.md': END,
      },
      [],
    ],
    [
      'an entry that is never mentioned',
      { 'START.md': policy(['tag: goto, target: END.md', 'tag: result'], 'If so <result>x</result>.'), 'END.md': END },
      ['unmentioned-entry START.md:3:5'],
    ],
    [
      'an entry of which one state is never mentioned',
      {
        'START.md': policy(
          ['tag: call, target: END.md, return: LAST.md', 'tag: result'],
          'Call END.md, or when done <result>x</result>.',
        ),
        'END.md': END,
        'LAST.md': END,
      },
      ['unmentioned-entry START.md:3:5'],
    ],
    [
      'an entry that is mentioned in words',
      {
        'START.md': policy(
          ['tag: goto, target: END.md', 'tag: result'],
          'If so go to END.md, else <result>x</result>.',
        ),
        'END.md': END,
      },
      [],
    ],
    [
      'an entry of whose state the prompt only has the word in another letter case',
      {
        'START.md': policy(
          ['tag: goto, target: B.md', 'tag: goto, target: REVIEW', 'tag: result'],
          'Follow plan B and review the code. When done <result>x</result>.',
        ),
        'B.md': END,
        'REVIEW.md': END,
      },
      ['unmentioned-entry START.md:4:5'],
    ],
    [
      'entries that are mentioned by the names of their states',
      {
        'START.md': policy(
          ['tag: goto, target: B.md', 'tag: goto, target: REVIEW', 'tag: reset, target: CHECK', 'tag: result'],
          'If the plan holds go to B, if not stop: REVIEW comes next. Else `CHECK`, or when done a result tag.',
        ),
        'B.md': END,
        'REVIEW.md': END,
        'CHECK.sh': SCRIPT,
      },
      [],
    ],
    [
      'an entry whose state is only mentioned with another tag',
      {
        'START.md': policy(
          ['tag: goto, target: END.md', 'tag: reset, target: END.md'],
          'When done answer with <goto>END.md</goto>.',
        ),
        'END.md': END,
      },
      ['unmentioned-entry START.md:4:5'],
    ],
    [
      'an entry whose state is mentioned with another tag, and its own tag in words',
      {
        'START.md': policy(
          ['tag: goto, target: END.md', 'tag: reset, target: END.md'],
          'When done answer with <goto>END.md</goto>, or with a reset if you have read a lot.',
        ),
        'END.md': END,
      },
      [],
    ],
    [
      'entries that a prompt knows from before in the same conversation',
      {
        'START.md': policy(
          ['tag: goto, target: NEXT.md', 'tag: result'],
          'After each chapter answer with <goto>NEXT.md</goto>, after the last one with <result>x</result>.',
        ),
        'NEXT.md': policy(
          ['tag: goto, target: NEXT.md', 'tag: result'],
          'Now the next one. Then answer with one of the two tags as before.',
        ),
      },
      [],
    ],
    [
      'entries that a prompt cannot know from before, because the conversation is a new one',
      {
        'START.md': policy(
          ['tag: reset, target: NEXT.md', 'tag: result'],
          'After each chapter answer with <reset>NEXT.md</reset>, after the last one with <result>x</result>.',
        ),
        'NEXT.md': policy(
          ['tag: reset, target: NEXT.md', 'tag: result'],
          'Now the next one. Then answer with one of the two tags as before.',
        ),
      },
      ['unmentioned-entry NEXT.md:3:5', 'unmentioned-entry NEXT.md:4:5'],
    ],
    [
      'an implicit transition',
      { 'START.md': policy(['tag: goto, target: END.md'], 'Stop after this.'), 'END.md': END },
      ['implicit-transition START.md:3:5'],
    ],
    [
      'a prompt with nothing in it',
      { 'START.md': policy(['tag: goto, target: END.md'], ''), 'END.md': END },
      ['empty-prompt START.md:1:1', 'implicit-transition START.md:3:5'],
    ],
  ]));
