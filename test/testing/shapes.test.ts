import { expect, test } from 'vitest';
import { wrongWith } from './rig.ts';

/** Results that do not fit their schema, wherever a result can go. */
const shaped = (text: string, more = ''): string =>
  `---\nresult_schema: { type: object, required: [n], properties: { n: { type: integer } } }\n${more}---\n${text}`;
const WRONG = '<result>{"n": "1"}</result>';
const RIGHT = '<result>{"n": 1}</result>';
const REASON = 'does not fit `result_schema`: `/n` must be integer';

test('a worker whose result never fits fails, which is data for the join', async () => {
  const states = {
    'START.sh': 'echo "<fork item=a>W</fork><fork item=b>W</fork><join>SUM</join>"',
    'W.md': shaped('Work on {{item}}.'),
    'SUM.md': '{{results}}',
  };
  const scenario = `answers:
  W.md: [{ when: { item: a }, turns: ['${WRONG}', '${WRONG}'] }, { text: '${RIGHT}' }]
  SUM.md: <result>over</result>
expect:
  reminders: { W.md: 1 }
  prompts:
    SUM.md: { contains: ['main_w1 item=a: failed', 'no valid answer after 1 reminder: its <result> ${REASON}', '- main_w2 item=b: ended', '  {"n": 1}'] }
  status: completed
  exit: 0
`;
  expect(await wrongWith(states, scenario)).toStrictEqual([]);
});

test.each(['call', 'function'])('the result of a %s is handed over once it fits', async (tag) => {
  const states = {
    'START.sh': `echo "<${tag} return=BACK>F</${tag}>"`,
    'F.md': shaped('Count.'),
    'BACK.md': 'n is {{result.n}} in {{result}}.',
  };
  const scenario = `answers:
  F.md: { turns: ['${WRONG}', '${RIGHT}'] }
  BACK.md: <result>over</result>
expect:
  reminders: { F.md: 1 }
  prompts:
    BACK.md: 'n is 1 in {"n": 1}.'
`;
  expect(await wrongWith(states, scenario)).toStrictEqual([]);
});

test('a result with which a judge overrides an answer has to fit, too', async () => {
  const states = {
    'START.md': shaped('Count.', 'evaluator: { prompt: JUDGE.md }\n'),
    'JUDGE.md': 'Is it right?',
  };
  const scenario = `answers:
  START.md: '${RIGHT}'
  JUDGE.md: { turns: ['<result>two</result>', '<result>{"n": 2}</result>'] }
expect:
  reminders: { JUDGE.md: 1 }
  result: '{"n": 2}'
`;
  expect(await wrongWith(states, scenario)).toStrictEqual([]);
});
