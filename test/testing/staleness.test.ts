import { describe, expect, test } from 'vitest';
import { fingerprintScript } from '../../src/app/record-run.ts';
import { warnedBy, wrongWith } from './rig.ts';

const windows = process.platform === 'win32';

const START = `---
allowed_transitions: [{ tag: goto, target: CHECK.sh }]
---
List three colours.
`;
const NAME = 'Which colour is it? Answer with <result>the colour</result>.';

const CHECK = `if [ -e colours.txt ]; then
  echo "<goto>NAME.md</goto>"
else
  echo "<goto>START.md</goto>"
fi
`;

const statesWith = (check: string) => ({ 'START.md': START, 'CHECK.sh': check, 'NAME.md': NAME });

const ANSWERS = `answers:
  START.md: Done.
  CHECK.sh: [<goto>START.md</goto>, <goto>NAME.md</goto>]
  NAME.md: <result>red</result>
`;

describe.skipIf(windows)('a replayed script (not on Windows)', () => {
  test('is not mentioned if it can still print its answer', async () => {
    expect(await warnedBy(statesWith(CHECK), ANSWERS)).toStrictEqual([]);
  });

  test('fails the scenario, at the answer, if it can no longer print it', async () => {
    const states = statesWith(CHECK.replace('NAME.md', 'START.md'));
    expect(await wrongWith(states, ANSWERS)).toStrictEqual([
      '3:37 CHECK.sh: CHECK.sh cannot print `<goto>NAME.md</goto>`, which this answer lets it print: its text has only `<goto>START.md</goto>`',
    ]);
  });

  test('is reported once for the same answer, also for an answer with variables', async () => {
    const answers = `vars: { where: NAME }
files: { x: y }
answers:
  START.md: Done.
  CHECK.sh:
    - when: { agent_id: main }
      visits:
        - { text: <goto>START.md</goto> }
        - turns: [{ text: "Well. <goto>{{where}}</goto>" }]
  NAME.md: <result>red</result>
`;
    expect(await wrongWith(statesWith('echo "<goto>START.md</goto>"'), answers)).toStrictEqual([
      expect.stringMatching(/^9:27 CHECK.sh: CHECK.sh cannot print `<goto>NAME.md<\/goto>`/),
    ]);
  });

  test('may have its answer in another file', async () => {
    const states = { ...statesWith('exit 1'), 'answers.yaml': `# x\n${ANSWERS}` };
    expect(await wrongWith(states, 'answers_from: answers.yaml')).toStrictEqual([
      'answers.yaml:4:14 CHECK.sh: CHECK.sh cannot print `<goto>START.md</goto>`, which this answer lets it print: its text has no tag',
      'answers.yaml:4:37 CHECK.sh: CHECK.sh cannot print `<goto>NAME.md</goto>`, which this answer lets it print: its text has no tag',
      'CHECK.sh:1:1 CHECK.sh: there is no way out of CHECK.sh: the script prints no tag',
    ]);
  });

  test('is compared with its calls and forks, too', async () => {
    const states = {
      'START.sh': `echo '<function return="NAME.md">W.md</function>'`,
      'W.md': 'Say <result>w</result>.',
      'NAME.md': NAME,
    };
    const scenario = (start: string) =>
      `answers: { START.sh: '${start}', NAME.md: <result>n</result>, W.md: <result>w</result> }`;
    expect(await wrongWith(states, scenario('<function return="NAME.md">W.md</function>'))).toStrictEqual([]);
    expect(await wrongWith(states, scenario('<call return="NAME.md">W.md</call>'))).toStrictEqual([
      '1:22 START.sh: START.sh cannot print `<call return="NAME.md">W.md</call>`, which this answer lets it print: its text has only `<function return="NAME.md">W.md</function>`',
    ]);
    expect(await wrongWith(states, scenario('<fork>W.md</fork><goto>NAME.md</goto>'))).toHaveLength(2);
  });

  test.each([
    ['fills in the state', 'echo "<goto>$next</goto>"'],
    ['prints a file', 'echo "<goto>START.md</goto>" > next.txt; cat next.txt'],
    ['prints what it has worked out', 'next="<goto>$(cat x)</goto>"; echo "$next"'],
    ['asks another program', './decide || echo "<goto>START.md</goto>"'],
    ['asks another program on the path', 'decide || echo "<goto>START.md</goto>"'],
    ['reads another script', '. ./decide.sh; [ -e x ] && echo "<goto>START.md</goto>"'],
    ['is beyond us', 'eval "$(base64 -d code)"; echo "<goto>START.md</goto>"'],
  ])('may print anything if it %s', async (_, script) => {
    expect(await wrongWith(statesWith(script), ANSWERS)).toStrictEqual([]);
  });

  test('is analyzed with its functions, too', async () => {
    const script = 'go() { echo "<goto>START.md</goto>"; }\ngo\n';
    expect(await wrongWith(statesWith(script), ANSWERS)).toHaveLength(1);
    expect(await wrongWith(statesWith(script.replace('START.md', 'NAME.md')), ANSWERS)).toHaveLength(1);
  });

  test('may fail on purpose', async () => {
    const failing = ANSWERS.replace('<goto>NAME.md</goto>', '{ text: <goto>NAME.md</goto>, exit: 1 }');
    const states = statesWith('echo "<goto>START.md</goto>"');
    expect(await wrongWith(states, `${failing}expect: { status: failed }`)).toStrictEqual([]);
  });

  test('fails the scenario if it names a missing state', async () => {
    const states = statesWith(`${CHECK}[ -e x ] && echo "<goto>NAEM.md</goto>"\n`);
    expect(await wrongWith(states, ANSWERS)).toStrictEqual([
      'CHECK.sh:6:19 CHECK.sh: `<goto>NAEM.md</goto>`: there is no state `NAEM.md` in this workflow (did you mean NAME.md?)',
    ]);
  });

  test('fails the scenario if bash cannot parse it', async () => {
    expect(await wrongWith(statesWith(CHECK.replace('fi\n', '')), ANSWERS)).toStrictEqual([
      expect.stringMatching(/^CHECK\.sh:\d+:1 CHECK\.sh: bash cannot read the script: syntax error/),
    ]);
  });

  const recorded = (fingerprint: string, more = '') =>
    `recorded_scripts: { CHECK.sh: "${fingerprint}" }\n${more}${ANSWERS}`;

  test('causes a warning if it has changed since the recording', async () => {
    expect(await warnedBy(statesWith(CHECK), recorded(fingerprintScript(CHECK)))).toStrictEqual([]);
    expect(await warnedBy(statesWith(`${CHECK}exit\n`), recorded(fingerprintScript(CHECK)))).toStrictEqual([
      'CHECK.sh has changed since this was recorded, and the recorded output was used: run it with --real-scripts, or record again',
    ]);
  });

  test('is unchanged if only its line endings differ', () => {
    expect(fingerprintScript(CHECK.replaceAll('\n', '\r\n'))).toBe(fingerprintScript(CHECK));
    expect(fingerprintScript('')).toBe('e3b0c44298fc');
  });

  test('is not mentioned if it was never entered, but its answers are', async () => {
    const states = { ...statesWith('echo "<goto>NAEM.md</goto>"'), 'START.md': NAME };
    const scenario = recorded('0123456789ab').replace('Done.', '<result>red</result>');
    expect(await warnedBy(states, scenario)).toStrictEqual([
      'a.test.yaml:4:3: the answers for CHECK.sh were never used',
      'a.test.yaml:5:3: the answer for NAME.md was never used',
    ]);
  });

  test('is not mentioned if it was executed', async () => {
    const states = statesWith(CHECK);
    const scenario = recorded('0123456789ab', 'files: { colours.txt: red }\n').replace(/ {2}CHECK.sh: .*\n/, '');
    expect(await warnedBy(states, scenario)).toStrictEqual([]);
  });
});

test('a script that always fails may be expected to fail, but not to answer', async () => {
  const states = { 'START.sh': 'echo broken >&2; exit 3' };
  const fails = 'answers: { START: { exit: 3 } }\nexpect: { status: failed }';
  expect(await wrongWith(states, fails)).toStrictEqual([]);
  expect(await wrongWith(states, 'answers: { START: <result>r</result> }')).not.toStrictEqual([]);
});

describe('a replayed prompt', () => {
  const start = (text: string) => ({
    'START.md': `---\nallowed_transitions: [{ tag: goto, target: NAME }, { tag: result }]\n---\n${text}`,
    'NAME.md': NAME,
  });
  const scenario = 'answers: { START: <goto>NAME</goto>, NAME: <result>r</result> }';

  test('is not mentioned if it asks for its tags', async () => {
    const asking = start('Answer with <goto>NAME.md</goto> or <result>why not</result>.');
    expect(await warnedBy(asking, scenario)).toStrictEqual([]);
  });

  test('causes a warning if it does not, or asks for a missing state', async () => {
    expect(await warnedBy(start('Answer with <result>why not</result>.'), scenario)).toStrictEqual([
      expect.stringMatching(/^START\.md:2:\d+: the prompt never mentions `<goto>NAME(\.md)?<\/goto>`/),
    ]);
    const misspelt = start('Answer with <goto>NAEM.md</goto> or <result>why not</result>.');
    expect(await warnedBy(misspelt, scenario)).toContainEqual(
      expect.stringMatching(/^START\.md:4:13: `<goto>NAEM\.md<\/goto>`: there is no state `NAEM\.md`/),
    );
  });
});
