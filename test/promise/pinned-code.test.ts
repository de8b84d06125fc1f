/** Code that an agent changed or added does not run until a person has accepted it. */
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { continueDetachedRun } from '../../src/app/detached-run.ts';
import { getStatus } from '../../src/app/library.ts';
import { openFiles } from '../../src/app/open-files.ts';
import { appears, startOwnerIn } from '../cli/owners.ts';
import { buildZip } from '../workflow/zip-builder.ts';
import { EVIL, newAttack, PLACES, RUN } from './canned-attack.ts';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');
const OK = "echo '<result>ok</result>'\n";
const toGate = (more = ''): string =>
  `---\nallowed_transitions: [{ tag: goto, target: GATE.sh }]\n${more}---\nDo your work.\n`;
const SOURCING = `. "$(dirname "$0")/lib/check.bash"\n${OK}`;
const WIDENED = '---\npermission_mode: bypassPermissions\n---\nContinue.\n';

interface Variant {
  readonly files: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<string, unknown>>;
  readonly says: string;
}

const overwriting = (file: string, content = EVIL, text = 'Done.'): unknown => ({
  text,
  write: { [`flow/main/${file}`]: content },
});

const VARIANTS: Readonly<Record<string, Variant>> = {
  'an overwritten script': {
    files: { 'START.md': toGate(), 'GATE.sh': OK },
    answers: { START: overwriting('GATE.sh') },
    says: 'main/GATE.sh has changed since the run first read it',
  },
  'an overwritten helper': {
    files: { 'START.md': toGate(), 'GATE.sh': SOURCING, 'lib/check.bash': ':\n' },
    answers: { START: overwriting('lib/check.bash', 'touch pwned\n') },
    says: 'main/lib/check.bash has changed since',
  },
  'an overwritten helper without an ending': {
    files: { 'START.md': toGate(), 'GATE.sh': `"$(dirname "$0")/tool"\n${OK}`, tool: '#!/bin/sh\n:\n' },
    answers: { START: overwriting('tool', '#!/bin/sh\ntouch pwned\n') },
    says: 'main/tool has changed since',
  },
  'another script, which the next one sources': {
    files: { 'START.md': toGate(), 'GATE.sh': `. "$(dirname "$0")/COMMON.sh"\n${OK}`, 'COMMON.sh': ':\n' },
    answers: { START: overwriting('COMMON.sh', 'touch pwned\n') },
    says: 'main/COMMON.sh has changed since',
  },
  'a file without a program ending that a script sources': {
    files: { 'START.md': toGate(), 'GATE.sh': `. "$(dirname "$0")/lib.inc"\n${OK}`, 'lib.inc': ':\n' },
    answers: { START: overwriting('lib.inc', 'touch pwned\n') },
    says: 'main/lib.inc has changed since',
  },
  'a file without any ending that a script sources': {
    files: { 'START.md': toGate(), 'GATE.sh': `. "$(dirname "$0")/common"\n${OK}`, common: ':\n' },
    answers: { START: overwriting('common', 'touch pwned\n') },
    says: 'main/common has changed since',
  },
  'a new file that a script finds by a pattern': {
    files: { 'START.md': toGate(), 'GATE.sh': `for hook in "$(dirname "$0")"/hooks/*.sh; do . "$hook"; done\n${OK}` },
    answers: { START: overwriting('hooks/evil.sh', 'touch pwned\n') },
    says: 'main/hooks/evil.sh is new to the run',
  },
  'an overwritten evaluator': {
    files: { 'START.md': toGate('evaluator: [{ script: JUDGE.sh }]\n'), 'GATE.sh': OK, 'JUDGE.sh': ':\n' },
    answers: { START: overwriting('JUDGE.sh', 'touch pwned\n') },
    says: 'main/JUDGE.sh has changed since',
  },
  'the script that a guard leads to': {
    files: {
      'START.md': `---\nallowed_transitions: [{ tag: goto, target: FAIL.sh }]\n---\nWork.\n`,
      'FAIL.sh': '# ---\n# on: { error: RESCUE.sh }\n# ---\nexit 1\n',
      'RESCUE.sh': OK,
    },
    answers: { START: overwriting('RESCUE.sh') },
    says: 'main/RESCUE.sh has changed since',
  },
  'a new script': {
    files: { 'START.md': 'Work.\n', 'GATE.sh': OK },
    answers: { START: overwriting('NEW.sh', EVIL, '<goto>NEW.sh</goto>') },
    says: 'main/NEW.sh is new to the run',
  },
  'the frontmatter of the next prompt': {
    files: { 'START.md': 'Work.\n', 'NEXT.md': '---\npermission_mode: plan\n---\nContinue.\n' },
    answers: { START: overwriting('NEXT.md', WIDENED, '<goto>NEXT</goto>'), NEXT: '<result>pwned</result>' },
    says: 'the frontmatter of ',
  },
  'frontmatter where there was none': {
    files: { 'START.md': 'Work.\n', 'NEXT.md': 'Continue.\n' },
    answers: { START: overwriting('NEXT.md', WIDENED, '<goto>NEXT</goto>'), NEXT: '<result>pwned</result>' },
    says: 'main/NEXT.md is new to the run',
  },
  'a new prompt with frontmatter': {
    files: { 'START.md': 'Work.\n' },
    answers: { START: overwriting('NEXT.md', WIDENED, '<goto>NEXT</goto>') },
    says: 'main/NEXT.md is new to the run',
  },
  'frontmatter that is gone': {
    files: { 'START.md': 'Work.\n', 'NEXT.md': '---\ndisallowed_tools: [Bash]\n---\nContinue.\n' },
    answers: { START: overwriting('NEXT.md', 'Continue.\n', '<goto>NEXT</goto>'), NEXT: '<result>pwned</result>' },
    says: 'the frontmatter of ',
  },
  'its own frontmatter, before a reminder': {
    files: { 'START.md': toGate(), 'GATE.sh': OK },
    answers: { START: { turns: [overwriting('START.md', WIDENED, '<goto>NOWHERE</goto>'), '<result>pwned</result>'] } },
    says: 'the frontmatter of ',
  },
  'a script of a workflow that the policy names': {
    files: {
      'START.md': '---\nallowed_transitions: [{ tag: reset-workflow, target: ../lib }]\n---\nWork.\n',
      '../lib/START.sh': OK,
    },
    answers: { START: { text: 'Done.', write: { 'flow/lib/START.sh': EVIL } } },
    says: 'lib/START.sh has changed since',
  },
  'a script, by a parallel worker': {
    files: {
      'START.sh': "echo '<fork>WORK</fork><join>GATE</join>'\n",
      'WORK.md': '---\nallowed_transitions: [{ tag: result }]\n---\nWork.\n',
      'GATE.sh': OK,
    },
    answers: { WORK: overwriting('GATE.sh', EVIL, '<result>done</result>') },
    says: 'main/GATE.sh has changed since',
  },
};

describe.each(PLACES)('with the workflow %s', (place) => {
  test.each(Object.entries(VARIANTS))('the run pauses at %s', async (_, { files, answers, says }) => {
    const attack = newAttack(place, inFolder(files), 'main');
    const { code, err } = await attack.run(answers);
    expect(attack.isPwned()).toBe(false);
    expect([code, err]).toStrictEqual([3, expect.stringContaining(says)]);
    expect(err).toContain(`\`raymond resume ${RUN}\` accepts it`);
    // Nobody but a person accepts it, however often the run is resumed.
    const again = await attack.raymond('resume', RUN, '--refuse-changed-code');
    expect([again.code, again.err]).toStrictEqual([3, expect.stringContaining(says)]);
    expect((await attack.raymond('recover', '--resume')).err).toContain('Nothing to recover');
    expect(attack.isPwned()).toBe(false);
  });

  test('a person accepts what the pause told of, and the run continues with it', async () => {
    const { files, answers } = VARIANTS['an overwritten script'] as Variant;
    const attack = newAttack(place, inFolder(files), 'main');
    await attack.run(answers);
    const { code, out, err } = await attack.raymond('resume', RUN);
    expect([code, out]).toStrictEqual([0, 'pwned\n']);
    expect(err).toMatch(/changed code accepted: .*main\/GATE\.sh/);
  });

  test('what changed while the run was under way, and no pause has told of, is not accepted by the way', async () => {
    const { files, answers } = VARIANTS['an overwritten script'] as Variant;
    const attack = newAttack(place, inFolder(files), 'main');
    expect((await attack.run(answers, '--max-iterations', '1')).code).toBe(4);
    const resumed = await attack.raymond('resume', RUN, '--max-iterations', '9');
    expect([resumed.code, resumed.err]).toStrictEqual([3, expect.stringContaining('main/GATE.sh has changed since')]);
    expect(attack.isPwned()).toBe(false);
    expect((await attack.raymond('resume', RUN)).code).toBe(0);
  });

  test('what a person changes after the run has ended is accepted by the resume', async () => {
    const attack = newAttack(place, inFolder({ 'START.sh': 'exit 1\n' }), 'main');
    expect((await attack.run({})).code).toBe(1);
    attack.write(`${attack.flow}/START.sh`, OK);
    const refused = await attack.raymond('resume', RUN, '--retry', '--refuse-changed-code');
    expect(refused.code).toBe(3);
    const { code, out, err } = await attack.raymond('resume', RUN, '--retry');
    expect([code, out]).toStrictEqual([0, 'ok\n']);
    expect(err).toContain('changed code accepted:');
  });

  test('the manifest counts from the next resume on, and is compared then', async () => {
    const attack = newAttack(place, inFolder({ 'START.md': toGate(), 'GATE.sh': OK }), 'main');
    const write = {
      'flow/main/workflow.yaml': 'environment:\n  BASH_ENV: evil.bash\n',
      'evil.bash': 'touch pwned\n',
    };
    await attack.run({ START: { text: 'Done.', write } }, '--max-iterations', '1');
    const { code, err } = await attack.raymond('resume', RUN, '--max-iterations', '9');
    expect([code, err]).toStrictEqual([3, expect.stringContaining('main/workflow.yaml is new to the run')]);
    expect(attack.isPwned()).toBe(false);
  });

  test('a schema that was loosened does not pass the result of the turn that did it', async () => {
    const start = (schema: string): string => `---\nresult_schema: ${schema}\n---\nWork.\n`;
    const attack = newAttack(place, inFolder({ 'START.md': start('{ type: integer }') }), 'main');
    const { code, err } = await attack.run({ START: overwriting('START.md', start('true'), '<result>pwned</result>') });
    expect([code, err]).toStrictEqual([3, expect.stringContaining('main/START.md has changed since')]);
    expect((await attack.raymond('resume', RUN, '--refuse-changed-code')).code).toBe(3);
    expect((await attack.raymond('resume', RUN)).out).toBe('pwned\n');
  });

  test('a change before kill -9 is not accepted by recover, nor unseen by a person', async () => {
    const files = {
      'START.md': toGate(),
      'GATE.sh':
        "touch here; while [ ! -e go ] && [ -e answers.yaml ]; do sleep 0.02; done; echo '<goto>LAST</goto>'\n",
      'LAST.sh': OK,
    };
    const attack = newAttack(place, inFolder(files), 'main');
    attack.write(`${attack.cwd}/answers.yaml`, JSON.stringify({ answers: { START: 'Done.' } }));
    const owner = startOwnerIn(attack, 'run', attack.flow, '--agent', 'replay:answers.yaml', '--run-id', RUN);
    await appears(attack.cwd, 'here');
    owner.signal('SIGKILL');
    await owner.exited;
    attack.write(`${attack.flow}/LAST.sh`, EVIL);
    attack.write(`${attack.cwd}/go`, '');
    expect((await attack.raymond('recover', '--resume')).code).toBe(3);
    expect(attack.isPwned()).toBe(false);
    expect((await attack.raymond('resume', RUN)).out).toBe('pwned\n');
  });

  test('the texts of prompts stay editable', async () => {
    const attack = newAttack(
      place,
      inFolder({ 'START.md': toGate(), 'GATE.sh': "echo '<goto>NEXT</goto>'\n", 'NEXT.md': 'A' }),
      'main',
    );
    const write = { 'flow/main/NEXT.md': 'B', 'flow/main/START.md': `${toGate()}More.\n`, 'flow/main/notes.txt': 'x' };
    const { code, out } = await attack.run({ START: { text: 'Done.', write }, NEXT: '<result>fine</result>' });
    expect([code, out]).toStrictEqual([0, 'fine\n']);
  });

  test('a one-file workflow is pinned, too', async () => {
    const flow = (gate: string, prompt: string): string =>
      JSON.stringify({
        states: {
          START: { allowed_transitions: [{ tag: 'goto', target: 'GATE' }], prompt },
          GATE: { sh: gate },
        },
      });
    const attack = newAttack(place, { 'main.yaml': flow(OK, 'Work.') }, 'main.yaml');
    const { code, err } = await attack.run({
      START: { text: 'Done.', write: { 'flow/main.yaml': flow(EVIL, 'Work.') } },
    });
    expect([code, err]).toStrictEqual([3, expect.stringContaining('main.yaml/GATE.sh has changed since')]);
    expect(attack.isPwned()).toBe(false);
    expect((await attack.raymond('resume', RUN)).out).toBe('pwned\n');
  });

  test('what was unpacked from a zip is compared with the zip, and unpacked again', async () => {
    const zip = buildZip([
      { name: 'START.md', data: toGate() },
      { name: 'GATE.sh', data: `. "$(dirname "$0")/check.bash"\n${OK}` },
      { name: 'check.bash', data: ':\n' },
    ]);
    const attack = newAttack(place, { 'main.zip': zip }, 'main.zip');
    const write = { [`.raymond/runs/${RUN}/workflow/check.bash`]: 'touch pwned\n' };
    const { code, err } = await attack.run({ START: { text: 'Done.', write } });
    expect([code, err]).toStrictEqual([3, expect.stringContaining('check.bash is not as it was unpacked from')]);
    expect((await attack.raymond('resume', RUN, '--refuse-changed-code')).out).toBe('ok\n');
    expect(attack.isPwned()).toBe(false);
  });

  test('a zip that was replaced is compared with the one at the start', async () => {
    const zipOf = (check: string): Uint8Array =>
      buildZip([
        { name: 'START.sh', data: `cp evil.zip flow/main.zip\necho '<goto>GATE</goto>'\n` },
        { name: 'GATE.sh', data: `. "$(dirname "$0")/check.bash"\n${OK}` },
        { name: 'check.bash', data: check },
      ]);
    const attack = newAttack(place, { 'main.zip': zipOf(':\n') }, 'main.zip');
    attack.write(`${attack.cwd}/evil.zip`, zipOf('touch pwned\n'));
    const { code, err } = await attack.run({});
    expect([code, err]).toStrictEqual([3, expect.stringContaining('main.zip/check.bash has changed since')]);
    expect(attack.isPwned()).toBe(false);
    expect((await attack.raymond('resume', RUN)).out).toBe('ok\n');
    expect(attack.isPwned()).toBe(true);
  });
});

test('the page, the API and MCP resume a run without accepting anything', async () => {
  const { files, answers } = VARIANTS['an overwritten script'] as Variant;
  const attack = newAttack('inside the project', inFolder(files), 'main');
  await attack.run(answers);
  const { seq } = (await getStatus(RUN, attack.cwd)).run;
  const { cwd } = attack;
  await continueDetachedRun(RUN, {
    cwd,
    ...openFiles(cwd, process.env),
    env: { ...process.env, RAYMOND_REPLAY: 'fast' },
    command: [process.execPath, CLI],
  });
  await vi.waitUntil(async () => (await getStatus(RUN, cwd)).observedStatus === 'paused', { timeout: 20_000 });
  expect((await getStatus(RUN, cwd)).run.seq).toBeGreaterThan(seq);
  expect(attack.isPwned()).toBe(false);
});

test('a scenario meets the pause of a workflow that changes its code', async () => {
  const attack = newAttack(
    'inside the project',
    inFolder({
      'START.sh': `printf "echo '<result>changed</result>'" > "$RAYMOND_WORKFLOW_DIR/GATE.sh"; echo '<goto>GATE</goto>'\n`,
      'GATE.sh': OK,
      'pause.test.yaml': 'name: it pauses\nexpect:\n  status: paused\n  path: [START, GATE]\n',
    }),
    'main',
  );
  const { code, out, err } = await attack.raymond('test', attack.flow);
  expect([code, out + err]).toStrictEqual([0, expect.stringContaining('1 scenario: all passed')]);
});

/** The files of the workflow `main`. */
const inFolder = (files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [`main/${name}`, content]));
