import { expect, test } from 'vitest';
import { wrongWith } from './rig.ts';

const PROMPT =
  '"A message from the person who follows your work:\\n\\nNot only bees, please\\n\\n---\\n\\nContinue with bees."';

const scenario = (more = ''): string => `
vars: { topic: bees }
answers:
  START: { text: <goto>NEXT</goto>, say: 'Not only {{topic}}, please'${more} }
  NEXT: <result>done</result>
expect:
  status: completed
  path: [START, NEXT]
  prompts: { NEXT: { equals: ${PROMPT} } }
`;

test.each([
  ['', ''],
  [', once, although Raymond crashes in the turn', ', crash: true'],
])('what a person says during a turn comes before the next prompt%s', async (_, more) => {
  const states = { 'START.md': 'Begin.', 'NEXT.md': 'Continue with {{topic}}.' };
  expect(await wrongWith(states, scenario(more))).toStrictEqual([]);
});

test('nothing is said to a script', async () => {
  const states = { 'START.sh': "echo '<goto>NEXT</goto>'", 'NEXT.md': 'Continue.' };
  await expect(wrongWith(states, scenario())).rejects.toThrow('`say`');
});
