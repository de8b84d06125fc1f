import { describe, expect, test } from 'vitest';
import { warnedBy, wrongWith } from './rig.ts';

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

test('a join that an evaluator has confirmed ends the workers that it cancels, and the run ends', async () => {
  const files = {
    'START.sh': `echo '<fork next="WAIT">ASK</fork> <fork>QUICK</fork>'`,
    'ASK.sh': `echo '<ask next="DONE">Publish it?</ask>'`,
    'QUICK.sh': `echo '<result>quick</result>'`,
    'WAIT.md': 'Say <goto>MERGE</goto>.',
    'MERGE.sh': `# ---\n# evaluator: { script: GATE.sh }\n# ---\necho '<join wait="1" cancel="true">DONE</join>'`,
    'GATE.sh': `echo '<confirm></confirm>'`,
    'DONE.sh': 'echo "<result>published</result>"',
  };
  const scenario = `answers:
  WAIT.md: { text: <goto>MERGE</goto>, seconds: 60 }
expect: { path: [START, WAIT, MERGE, DONE], result: published, status: completed }
`;
  expect(await wrongWith(files, scenario)).toStrictEqual([]);
});

test('what a played script printed before its time was over is in the record', async () => {
  const files = {
    'START.sh': '# ---\n# on: { timeout: NEXT }\n# ---\necho "<goto>NEXT</goto>"\n',
    'NEXT.sh': 'echo "<result>late</result>"',
  };
  const scenario = `answers:
  START.sh: { text: <print>half done</print>, fail: timeout }
expect: { result: late, prints: [half done] }
`;
  expect(await wrongWith(files, scenario)).toStrictEqual([]);
});

const asks = (answers: string, expected: string): string => `${ASKS}  NEXT.md: <result>published</result>
  LATE.md: <result>later</result>
asks: ${answers}
expect: ${expected}
`;

describe('the answers of people in a scenario', () => {
  test.each([
    ['a text', '{ START: Yes }', 'Yes'],
    ['a text with the time after which it comes', '{ START: { text: Yes, after: 23h } }', 'Yes'],
    ['those of one agent first', '{ main/START: Yes, START: No }', 'Yes'],
    ['a list, one for each question', '{ START: [Yes, No] }', 'Yes'],
  ])('can be %s', async (_, answers, text) => {
    const expected = `{ path: [START, NEXT], result: published, prompts: { NEXT: { contains: The answer is ${text}. } } }`;
    expect(await wrongWith(FILES, asks(answers, expected))).toStrictEqual([]);
  });

  test.each(['{ START: { text: Yes, after: 25h } }', '{ START: }', '{ START: [~] }'])(
    'that come too late or never let the time of the question pass: %s',
    async (answers) => {
      expect(await wrongWith(FILES, asks(answers, '{ path: [START, LATE], result: later }'))).toStrictEqual([]);
    },
  );

  test('come with files', async () => {
    const files = {
      'START.sh': `echo '<ask next="NEXT">Which?</ask>'`,
      'NEXT.sh': 'echo "<result>$(cat "$RAYMOND_TASK_FOLDER/asks/$RAYMOND_ASK_ID/a.txt")</result>"',
    };
    const scenario = 'asks: { START: { text: this, files: { a.txt: hello } } }\nexpect: { result: hello }\n';
    expect(await wrongWith(files, scenario)).toStrictEqual([]);
  });

  test('must come with the files that the question asks for', async () => {
    const files = {
      'START.sh': `echo '<ask next="NEXT" upload_slots="a.txt">Which?</ask>'`,
      'NEXT.sh': 'echo "<result>done</result>"',
    };
    expect(await wrongWith(files, 'asks: { START: this }\nexpect: { result: done }\n')).toStrictEqual([
      '1:1 it: what a person answers in START.sh is refused: the question asks for files that are missing: a.txt.',
    ]);
  });

  test.each([
    ['2', 'Discard', []],
    ['merge', 'Merge', []],
    [
      'Perhaps',
      'Merge',
      [
        '1:1 it: what a person answers in START.sh is refused: "Perhaps" is no choice: choose one of 1 Merge, 2 Discard.',
      ],
    ],
  ])('must be one of the choices that the question offers: %s', async (text, result, expected) => {
    const files = {
      'START.sh': `echo '<ask next="NEXT" choices="Merge|Discard">Which?</ask>'`,
      'NEXT.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
    };
    expect(await wrongWith(files, `asks: { START: "${text}" }\nexpect: { result: ${result} }\n`)).toStrictEqual(
      expected,
    );
  });

  test('reach several agents while others work, in a run that waits', async () => {
    const files = {
      'START.sh': 'echo "<fork next=WORK item=a>ASK</fork><fork next=WORK item=b>ASK</fork>"',
      'ASK.sh': `echo '<ask next="NEXT">Which?</ask>'`,
      'NEXT.sh': 'echo "<result>$item $RAYMOND_INPUT</result>"',
      'WORK.sh': 'echo "<result>worked</result>"',
    };
    const scenario = `options: { on_ask: wait }
asks: { main_ask1/ASK: one, ASK: { text: two, after: 10m } }
expect: { results: { main: worked, main_ask1: a one, main_ask2: b two } }
`;
    expect(await wrongWith(files, scenario)).toStrictEqual([]);
  });

  test('that nobody asks for are a warning', async () => {
    const scenario = 'answers: { START.md: <result>x</result> }\nasks: { START: Yes }\nexpect: { result: x }\n';
    expect(await warnedBy(FILES, scenario)).toStrictEqual([
      expect.stringContaining(':2:9: the answer of a person for START.md was never used'),
    ]);
  });

  test.each([
    ['{ STRAT: Yes }', 'STRAT'],
    ['{ START: { txet: Yes } }', 'txet'],
    ['{ START: { text: Yes, after: soon } }', 'a duration such as 90s or 24h'],
    ['{ START: { text: Yes, files: { ../a: x } } }', '`../a` cannot be the name of a file'],
    ['{ START: [] }', 'a list of at least one'],
  ])('that are wrong are told before anything runs: %s', async (answers, message) => {
    await expect(wrongWith(FILES, asks(answers, '{}'))).rejects.toThrow(message);
  });
});
