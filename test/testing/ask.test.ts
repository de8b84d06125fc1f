import { expect, test } from 'vitest';
import { wrongWith } from './rig.ts';

const FILES = {
  'START.md': 'Say <ask next="NEXT" timeout="24h" timeout_next="LATE">Publish it?</ask>.',
  'NEXT.md': 'The answer is {{input}}. Say <result>published</result>.',
  'LATE.md': 'Nobody answered. Say <result>later</result>.',
};

const ASKS = 'answers:\n  START.md: <ask next="NEXT" timeout="24h" timeout_next="LATE">Publish it?</ask>\n';

test('a question times out in virtual time where the run waits for answers', async () => {
  const scenario = `${ASKS}  LATE.md: <result>later</result>
options: { on_ask: wait }
expect: { path: [START, LATE], result: later, status: completed }
`;
  expect(await wrongWith(FILES, scenario)).toStrictEqual([]);
});

test('without an answer a run ends as waiting', async () => {
  const scenario = `${ASKS}
expect: { path: [START], status: waiting }
`;
  expect(await wrongWith(FILES, scenario)).toStrictEqual([]);
});
