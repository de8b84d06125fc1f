import { describe } from 'vitest';
import { type Case, check, END, policy } from './check.ts';

const STATES = { 'A.md': END, 'B.md': END };
const EITHER = ['tag: goto, target: A.md', 'tag: goto, target: B.md'];
/** A state whose only transition need not be said. */
const implicit = (text: string): string => policy(['tag: goto, target: A.md'], text);
const NOTE = 'implicit-transition START.md:3:5';

describe('a placeholder name:', () =>
  check([
    [
      'is not known to do so, whatever is said of it',
      { ...STATES, 'START.md': policy(EITHER, 'Then answer <goto>TEAM</goto>, where TEAM is A.md or B.md.') },
      ['missing-state START.md:6:13'],
    ],
    [
      'is a slip if it is near a state, whatever is said of it',
      { 'START.md': 'Then answer <goto>REVEIW</goto>, where REVEIW is the name.', 'REVIEW.md': END },
      ['missing-state START.md:1:13'],
    ],
    [
      'has a word for it, or brackets of its own',
      {
        ...STATES,
        'START.md': policy(
          EITHER,
          'Then answer <goto><TEAM></goto>, <goto>[TEAM]</goto> or <goto>STATE</goto> with A.md or B.md.',
        ),
      },
      [],
    ],
  ]));

describe('alternatives in one tag:', () =>
  check([
    ['lead to each of them', { ...STATES, 'START.md': 'Then answer <goto>A.md|B.md</goto>.' }, []],
    [
      'must each exist',
      { ...STATES, 'START.md': 'Then answer <goto>A.md | C.md | B.md</goto>.' },
      ['missing-state START.md:1:13'],
    ],
    [
      'must each be permitted',
      {
        ...STATES,
        'C.md': END,
        'START.md': policy([...EITHER, 'tag: reset, target: C'], 'Then <goto>A.md|B.md|C.md</goto> or a reset to C.'),
      },
      ['forbidden-tag START.md:7:6'],
    ],
    ['may stand in attributes, too', { ...STATES, 'START.md': 'Then answer <call return="A|B">A</call>.' }, []],
  ]));

describe('a tag that is not permitted:', () =>
  check([
    [
      'counts wherever it stands',
      { ...STATES, 'START.md': policy(EITHER, 'Write it to A.md or B.md, then <result>x</result>.') },
      ['forbidden-tag START.md:6:32'],
    ],
    ...(
      [
        ['If so <goto>A.md</goto> or <goto>B.md</goto>, if not <result>x</result>.', 54],
        ['Say A.md or B.md; if the tests do not pass <result>x</result>.', 44],
        ['Never answer with <result>x</result>, but A.md or B.md.', 19],
        ['If what was there is A.md or B.md: <result>x</result>.', 36],
      ] as const
    ).map(([text, column]): Case => {
      const start = policy(EITHER, text);
      return [`counts: ${text}`, { ...STATES, 'START.md': start }, [`forbidden-tag START.md:6:${column}`]];
    }),
    [
      'counts where the transition need not be said',
      { 'A.md': END, 'START.md': implicit('Stop then, and answer with <result>x</result>.') },
      [NOTE, 'forbidden-tag START.md:5:28'],
    ],
    [
      'does not count in code where the transition need not be said',
      {
        'A.md': END,
        'START.md': implicit(
          'Rename every `<result>x</result>` and stop.\n\n```xml\n<suite>\n<result>x</result>\n</suite>\n```',
        ),
      },
      [NOTE],
    ],
    [
      'does not count in code beside a tag outside of it',
      { ...STATES, 'START.md': policy(EITHER, 'Not `<result>x</result>`, but <goto>A.md</goto> or B.md.') },
      [],
    ],
  ]));

describe('text that looks like other markup:', () =>
  check([
    ['is a name that looks like two', { 'START.md': 'When done, answer with <goto>x|y.md</goto>.', 'x|y.md': END }, []],
    ['is a tag in capitals', { 'START.md': 'Then answer <GOTO>GHOST</GOTO>.' }, ['missing-state START.md:1:13']],
    [
      'is a tag with a capital that names a state',
      { 'START.md': 'Then answer <Goto>clear</Goto>.', 'clear.md': END },
      [],
    ],
    [
      'is a tag with a slip in an attribute',
      { 'START.md': 'Then answer <call retrun="END.md">the end</call>.', 'END.md': END },
      ['missing-attribute START.md:1:13'],
    ],
    [
      'is a tag with an attribute that it ignores',
      { 'START.md': 'Then answer <goto item="x">GHOST.md</goto>.' },
      ['ignored-attribute START.md:1:13', 'missing-state START.md:1:13'],
    ],
  ]));
