import { describe } from 'vitest';
import { type Case, check, END, policy } from './check.ts';

const STATES = { 'A.md': END, 'B.md': END };
const EITHER = ['tag: goto, target: A.md', 'tag: goto, target: B.md'];
/** A state whose only transition need not be said. */
const implicit = (text: string): string => policy(['tag: goto, target: A.md'], text);
const NOTE = 'implicit-transition START.md:3:5';

describe('a name that stands for others:', () =>
  check([
    [
      'is explained by what it is',
      { ...STATES, 'START.md': policy(EITHER, 'Then answer <goto>TEAM</goto>, where TEAM is A.md or B.md.') },
      [],
    ],
    [
      'is explained by what takes its place',
      { ...STATES, 'START.md': policy(EITHER, 'Then answer <goto>TEAM</goto>, with A.md or B.md in place of `TEAM`.') },
      [],
    ],
    [
      'is explained without a policy, and then leads anywhere',
      { ...STATES, 'START.md': 'Then answer <goto>TEAM.md</goto>; TEAM is one of A and B.' },
      [],
    ],
    [
      'is explained in another language',
      { ...STATES, 'START.md': policy(EITHER, 'Antworte mit <goto>TEAM</goto>, wobei TEAM A.md oder B.md ist.') },
      [],
    ],
    [
      'is not explained by merely standing there again',
      { ...STATES, 'START.md': policy(EITHER, 'TEAM comes next: <goto>TEAM</goto>, else A.md or B.md.') },
      ['missing-state START.md:6:18'],
    ],
    [
      'is a slip if it is near a state, whatever is said of it',
      { 'START.md': 'Then answer <goto>REVEIW</goto>, where REVEIW is the name.', 'REVIEW.md': END },
      ['missing-state START.md:1:13'],
    ],
    [
      'stands in brackets of its own',
      { ...STATES, 'START.md': policy(EITHER, 'Then answer <goto><STATE></goto> with A.md or B.md.') },
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

describe('a tag that nobody is asked for:', () =>
  check([
    [
      'is said by a later step',
      {
        ...STATES,
        'START.md': policy(
          EITHER,
          'Answer with <goto>A.md</goto> or <goto>B.md</goto>. The run is ended by a later step, which says\n' +
            '<result>done</result>; that is not your business.',
        ),
      },
      [],
    ],
    [
      'was said once',
      {
        ...STATES,
        'START.md': policy(EITHER, 'Answer with A.md or B.md as goto. (This was `<result>…</result>` once.)'),
      },
      [],
    ],
    [
      'goes into a file',
      { ...STATES, 'START.md': policy(EITHER, 'Write <result>x</result> into out.txt. Then A.md, else B.md.') },
      [],
    ],
    [
      'goes into a file together with others',
      {
        ...STATES,
        'START.md': implicit(
          'Write one of these lines into out.txt:\n\n    <goto>B.md</goto>\n    <goto>START.md</goto>\n\nStop then.',
        ),
        'A.md': 'Stop, then <goto>B.md</goto>.',
      },
      [NOTE],
    ],
    [
      'need not exist either',
      { ...STATES, 'START.md': 'Then <goto>A.md</goto> or <goto>B.md</goto>. (This was <goto>C.md</goto> once.)' },
      [],
    ],
    [
      'is what the prompt is about, where the way on need not be said',
      { 'A.md': END, 'START.md': implicit('Rename every `<result>x</result>` to `<status>x</status>` and stop.') },
      [NOTE],
    ],
    [
      'is asked for after all, though the way on need not be said',
      { 'A.md': END, 'START.md': implicit('Stop then, and answer with `<result>x</result>`.') },
      [NOTE, 'forbidden-tag START.md:5:29'],
    ],
    [
      'is asked for after something was written into a file',
      { ...STATES, 'START.md': policy(EITHER, 'Write it to A.md or B.md, then <result>x</result>.') },
      ['forbidden-tag START.md:6:32'],
    ],
    ...(
      [
        ['If so <goto>A.md</goto> or <goto>B.md</goto>, if not <result>x</result>.', 54],
        ['Say A.md or B.md; if the tests do not pass <result>x</result>.', 44],
        ['Say A.md or B.md; when it ends <result>x</result>.', 32],
        ['Say A.md or B.md; when the worker returns <result>x</result>.', 43],
      ] as const
    ).map(([text, column]): Case => {
      const start = policy(EITHER, text);
      return [`is asked for: ${text}`, { ...STATES, 'START.md': start }, [`forbidden-tag START.md:6:${column}`]];
    }),
    ...[
      'Never answer with <result>x</result>, but A.md or B.md.',
      'When done say A.md or B.md, and not <result>x</result>.',
      'When done say A.md or B.md instead of <result>x</result>.',
      'Say A.md or B.md. Do not yet write a <result>x</result>.',
    ].map((text): Case => [`is warned of: ${text}`, { ...STATES, 'START.md': policy(EITHER, text) }, []]),
    [
      'is asked for if something was found',
      { ...STATES, 'START.md': policy(EITHER, 'If what was there is A.md or B.md: <result>x</result>.') },
      ['forbidden-tag START.md:6:36'],
    ],
  ]));

describe('what a prompt is about:', () =>
  check([
    [
      'components of a page',
      {
        'START.md': 'Replace <Result value={x}/> and <Reset onClick={f}>Clear</Reset>. When done <goto>END.md</goto>.',
        'END.md': END,
      },
      [],
    ],
    [
      'components beside tags in code',
      { 'START.md': 'Leave <Fork of="main">…</Fork> alone. When done `<goto>GHOST.md</goto>`.' },
      ['missing-state START.md:1:50'],
    ],
    [
      'elements with attributes of their own',
      { 'START.md': implicit('Mend `<result code="0"/>` and `<call name="x">run it</call>`, then stop.'), 'A.md': END },
      [NOTE],
    ],
    [
      'what a file looks like',
      {
        'START.md': implicit(
          'Our plugin writes:\n\n```xml\n<suite>\n<result>x</result>\n</suite>\n```\n\nExplain it, then stop.',
        ),
        'A.md': END,
      },
      [NOTE],
    ],
    [
      'what an answer looks like is none of it',
      {
        'START.md': implicit('When done, answer like this:\n\n```\n<why>it fits</why>\n<result>x</result>\n```\n'),
        'A.md': END,
      },
      [NOTE, 'forbidden-tag START.md:9:1'],
    ],
    ['a name that looks like two', { 'START.md': 'When done, answer with <goto>x|y.md</goto>.', 'x|y.md': END }, []],
    [
      'a tag in capitals is none of it',
      { 'START.md': 'Then answer <GOTO>GHOST</GOTO>.' },
      ['missing-state START.md:1:13'],
    ],
    [
      'a tag with a capital that names a state is none of it',
      { 'START.md': 'Then answer <Goto>clear</Goto>.', 'clear.md': END },
      [],
    ],
    [
      'a tag with a slip in an attribute is none of it',
      { 'START.md': 'Then answer <call retrun="END.md">the end</call>.', 'END.md': END },
      ['missing-attribute START.md:1:13'],
    ],
    [
      'a tag with an attribute that it ignores is none of it if it names a state, missing or not',
      { 'START.md': 'Then answer <goto item="x">GHOST.md</goto>.' },
      ['ignored-attribute START.md:1:13', 'missing-state START.md:1:13'],
    ],
  ]));
