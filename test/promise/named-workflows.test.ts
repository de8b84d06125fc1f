/** The answer of an agent enters no workflow that an agent wrote. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildZip } from '../workflow/zip-builder.ts';
import { type Attack, EVIL, newAttack, PLACES, RUN } from './canned-attack.ts';

const OK = "echo '<result>ok</result>'\n";
const FREE = 'Work. You may use <call-workflow return="BACK.sh">PATH</call-workflow>.\n';
const FILES = {
  'main/START.md': FREE,
  'main/BACK.sh': 'echo "<result>back with $RAYMOND_RESULT</result>"\n',
  'lib/START.sh': OK,
  'lib/OTHER.sh': "echo '<result>other</result>'\n",
  'caf\u00e9/START.sh': OK,
  'one.yaml': JSON.stringify({ states: { START: { sh: OK } } }),
};

const TAGS = {
  call: (path: string) => `<call-workflow return="BACK.sh">${path}</call-workflow>`,
  function: (path: string) => `<function-workflow return="BACK.sh">${path}</function-workflow>`,
  fork: (path: string) => `<fork-workflow>${path}</fork-workflow><join>BACK.sh</join>`,
  reset: (path: string) => `<reset-workflow>${path}</reset-workflow>`,
} as const;

const ONE_FILE = JSON.stringify({ states: { START: { sh: EVIL } } });

interface Variant {
  /** What the agent writes, seen from where it works. */
  readonly write: Readonly<Record<string, string>>;
  /** How it names that, if the workflow is inside the project. */
  readonly path: (attack: Attack) => string;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  'a folder beside the workflow': { write: { 'flow/evil/START.sh': EVIL }, path: () => '../evil' },
  'a folder inside the workflow': { write: { 'flow/main/evil/START.sh': EVIL }, path: () => 'evil' },
  'a state of a folder': { write: { 'flow/evil/NEXT.sh': EVIL }, path: () => '../evil/NEXT.sh' },
  'a state without its extension': { write: { 'flow/evil/NEXT.sh': EVIL }, path: () => '../evil/NEXT' },
  'a one-file workflow': { write: { 'flow/evil.yaml': ONE_FILE }, path: () => '../evil.yaml' },
  'a state of a one-file workflow': { write: { 'flow/evil.yml': ONE_FILE }, path: () => '../evil.yml/START' },
  'an absolute path': { write: { 'flow/evil/START.sh': EVIL }, path: ({ flow }) => join(flow, '..', 'evil') },
  'a path with detours': { write: { 'flow/evil/START.sh': EVIL }, path: () => '../lib/../main/.././evil//' },
  'a path with other slashes': { write: { 'flow/evil/START.sh': EVIL }, path: () => '..\\evil' },
  'another case': { write: { 'flow/LIB/START.sh': EVIL }, path: () => '../LIB' },
  'a link that was there': { write: { 'flow/evil/START.sh': EVIL }, path: () => '../link' },
  'a zip that was replaced': { write: { 'flow/pack.zip': ONE_FILE }, path: () => '../pack.zip' },
  'a folder inside a known workflow': { write: { 'flow/lib/evil/START.sh': EVIL }, path: () => '../lib/evil' },
  'another spelling of the same letters': { write: { 'flow/cafe\u0301/START.sh': EVIL }, path: () => '../cafe\u0301' },
  'a folder with the name of a property of objects': {
    write: { 'flow/__proto__/START.sh': EVIL },
    path: () => '../__proto__',
  },
  'a one-file workflow that was replaced': { write: { 'flow/one.yaml': ONE_FILE }, path: () => '../one.yaml/START' },
  'a known workflow to which it added a helper': { write: { 'flow/lib/.env': 'x\n' }, path: () => '../lib' },
  'a known workflow whose script it changed': { write: { 'flow/lib/START.sh': EVIL }, path: () => '../lib' },
  'a known workflow to which it added a state': { write: { 'flow/lib/NEW.sh': EVIL }, path: () => '../lib/NEW.sh' },
  'a known workflow to which it added a manifest': {
    write: { 'flow/lib/workflow.yaml': 'environment: { BASH_ENV: evil.bash }\n', 'evil.bash': 'touch pwned\n' },
    path: () => '../lib',
  },
};

const MANIFEST = { 'pack.zip': buildZip([{ name: 'START.sh', data: OK }]) };

describe.each(PLACES)('with the workflow %s, an answer may not name', (place) => {
  test.each(Object.entries(VARIANTS))('%s', async (title, { write, path }) => {
    const attack = newAttack(place, { ...FILES, ...MANIFEST }, 'main');
    if (title.includes('link')) symlinkSync('evil', join(attack.flow, '..', 'link'));
    const turns = [{ text: TAGS.call(path(attack)), write }, '<result>reminded</result>'];
    const { code, out, err } = await attack.run({ START: { turns } });
    expect(attack.isPwned()).toBe(false);
    expect([code, out]).toStrictEqual([0, 'reminded\n']);
    expect(err).toMatch(/not one of the workflows that this run may enter|has changed since the run started|not a zip/);
  });

  test.each(Object.entries(TAGS))('a new workflow in a <%s-workflow>', async (_, tag) => {
    const attack = newAttack(place, FILES, 'main');
    const turns = [{ text: tag('../evil'), write: { 'flow/evil/START.sh': EVIL } }, '<result>reminded</result>'];
    const { code, out } = await attack.run({ START: { turns } });
    expect([code, out, attack.isPwned()]).toStrictEqual([0, 'reminded\n', false]);
  });

  test('a new workflow that a changed text mentions, also after a resume', async () => {
    const attack = newAttack(place, { ...FILES, 'main/NEXT.md': FREE }, 'main');
    const write = { 'flow/evil/START.sh': EVIL, 'flow/main/NEXT.md': `Use ${TAGS.call('../evil')}.\n` };
    const NEXT = { turns: [TAGS.call('../evil'), '<result>reminded</result>'] };
    await attack.run({ START: { text: '<goto>NEXT</goto>', write }, NEXT }, '--max-iterations', '1');
    const { out } = await attack.raymond('resume', RUN, '--max-iterations', '9');
    expect([out, attack.isPwned()]).toStrictEqual(['reminded\n', false]);
  });
});

describe('inside the project, an answer may not name', () => {
  test.each([
    ['the working directory', 'evil', '../../evil'],
    ['the task folder', `.raymond/tasks/${RUN}/evil`, `../../.raymond/tasks/${RUN}/evil`],
    ['the run folder', `.raymond/runs/${RUN}/evil`, `../../.raymond/runs/${RUN}/evil`],
    ['the task folder by its variable', `.raymond/tasks/${RUN}/main/evil`, '{{task_folder}}/evil'],
  ])('a workflow in %s', async (_, folder, path) => {
    const attack = newAttack('inside the project', FILES, 'main');
    const turns = [{ text: TAGS.call(path), write: { [`${folder}/START.sh`]: EVIL } }, '<result>reminded</result>'];
    const { code, out } = await attack.run({ START: { turns } });
    expect([code, out, attack.isPwned()]).toStrictEqual([0, 'reminded\n', false]);
  });
});

describe.each(PLACES)('with the workflow %s, an answer may name', (place) => {
  test.each([
    ['a folder that was there', '../lib', 'ok'],
    ['a state in it', '../lib/OTHER', 'other'],
    ['a zip that was there', '../pack.zip', 'ok'],
  ])('%s', async (_, path, result) => {
    const attack = newAttack(place, { ...FILES, ...MANIFEST }, 'main');
    const { code, out } = await attack.run({ START: TAGS.call(path) });
    expect([code, out]).toStrictEqual([0, `back with ${result}\n`]);
  });

  test('a workflow that was there, and then runs its code as it was named', async () => {
    const change = `cp "$(dirname "$0")/../../evil.sh" "$(dirname "$0")/GATE.sh"\necho '<goto>GATE</goto>'\n`;
    const attack = newAttack(
      place,
      { ...FILES, 'lib/START.sh': change, 'lib/GATE.sh': OK, '../evil.sh': EVIL },
      'main',
    );
    const { code, err } = await attack.run({ START: TAGS.call('../lib') });
    expect([code, err, attack.isPwned()]).toStrictEqual([3, expect.stringContaining('lib/GATE.sh has changed'), false]);
    expect((await attack.raymond('resume', RUN)).out).toBe('back with pwned\n');
  });
});

test('a script that passes a name along pauses, and a person accepts the workflow', async () => {
  const attack = newAttack(
    'inside the project',
    { ...FILES, 'main/START.md': 'Work.\n', 'main/PASS.sh': 'cat next\n' },
    'main',
  );
  const write = { 'flow/evil/START.sh': EVIL, next: TAGS.call('../evil') };
  const { code, err } = await attack.run({ START: { text: '<goto>PASS</goto>', write } });
  expect([code, err, attack.isPwned()]).toStrictEqual([
    3,
    expect.stringContaining('a person accepts it with `raymond resume`'),
    false,
  ]);
  expect((await attack.raymond('resume', RUN, '--refuse-changed-code')).code).toBe(3);
  expect(attack.isPwned()).toBe(false);
  expect((await attack.raymond('resume', RUN)).out).toBe('back with pwned\n');
});
