import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RaymondError } from '../../src/errors.ts';
import { InvalidWorkflow } from '../../src/workflow/invalid-workflow.ts';
import { openWorkflow } from '../../src/workflow/workflow.ts';
import { readWorkflowSource } from '../../src/workflow/workflow-source.ts';
import { temporaryFolders } from './temp.ts';
import { buildZip } from './zip-builder.ts';

const folder = temporaryFolders();

const START = '---\nallowed_transitions:\n  - { tag: goto, target: NEXT }\n---\nStart.';
const SOUND = { 'START.md': START, 'NEXT.md': 'Next.', 'RUN.sh': '#!/bin/bash\necho "<result>x</result>"\n' };

/** What opening or reading fails with: exit code, message, hint. */
async function failure(doing: Promise<unknown>): Promise<readonly [number, string, string | undefined]> {
  const error = await doing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RaymondError)) throw new Error('it did not fail as it should', { cause: error });
  return [error.exitCode, error.message, error.hint];
}

describe('opening', () => {
  test('a folder starts in its START', async () => {
    const path = folder(SOUND);
    const workflow = await openWorkflow(path, 'unix');
    expect([workflow.name, workflow.path, workflow.entry, workflow.platform, workflow.findings]).toStrictEqual([
      basename(path),
      path,
      'START.md',
      'unix',
      [],
    ]);
    expect(await workflow.scope()).toStrictEqual({ files: ['NEXT.md', 'RUN.sh', 'START.md'], platform: 'unix' });
  });

  test.each(['README.md', 'readme.md', 'CLAUDE.md', 'AGENTS.md'])(
    'a %s beside the states is not a state, with any content',
    async (name) => {
      const workflow = await openWorkflow(folder({ ...SOUND, [name]: '---\nmodel: [1]\n---\nAbout.' }), 'unix');
      expect((await workflow.scope()).files).not.toContain(name);
      await expect(workflow.state(name)).rejects.toThrow(name);
    },
  );

  test('reads the files as lint and graph do', async () => {
    const path = folder({ ...SOUND, 'RUN.bat': 'x', 'notes.txt': 'x' });
    const settings = { platform: 'unix', resetStack: 'keep', variables: [] } as const;
    const { source } = await readWorkflowSource(path, settings);
    expect((await openWorkflow(path, 'unix')).source).toStrictEqual(source);
  });

  test('a path may be relative and end in a slash', async () => {
    const path = folder(SOUND);
    expect((await openWorkflow(`${relative(process.cwd(), path)}/`, 'unix')).path).toBe(path);
  });

  test.each([
    ['flow.zip', '', 'flow'],
    ['Flow.ZIP', 'top/', 'Flow'],
    ['flow', '', 'flow'],
  ])('a zip is recognized by its extension or by its first bytes: %s', async (name, top, expected) => {
    const zip = buildZip(Object.entries(SOUND).map(([file, data]) => ({ name: top + file, data, deflated: true })));
    const workflow = await openWorkflow(join(folder({ [name]: zip }), name), 'unix');
    expect([workflow.name, workflow.entry]).toStrictEqual([expected, 'START.md']);
    expect((await workflow.state('NEXT.md')).text).toBe('Next.');
  });

  test.each([
    ['coding/PLAN.md', 'PLAN'],
    ['coding/START.md', 'coding'],
    ['coding/1_START.sh', 'coding'],
    ['coding/v1.2.md', 'v1.2'],
  ])('a state file starts in itself, regardless of the start state of its folder: %s', async (file, name) => {
    const path = join(folder({ 'coding/OTHER.md': '', [file]: 'x' }), file);
    const workflow = await openWorkflow(path, 'unix');
    expect([workflow.name, workflow.path, workflow.entry]).toStrictEqual([name, path, basename(file)]);
    expect((await workflow.scope()).files).toStrictEqual([basename(file), 'OTHER.md'].sort());
  });

  test('a folder whose name ends in .zip is a folder', async () => {
    const path = join(folder({ 'x.zip/START.md': '' }), 'x.zip');
    expect((await openWorkflow(path, 'unix')).name).toBe('x.zip');
  });

  test('scripts of the other platform are ignored', async () => {
    const path = folder({ ...SOUND, 'RUN.bat': Buffer.from([0xff, 0x00]) });
    expect((await openWorkflow(path, 'unix')).findings).toStrictEqual([]);
  });

  test('hundreds of states are opened at once', async () => {
    const states = Array.from({ length: 500 }, (_, i) => [`S${i}.md`, START.replace('NEXT', `S${(i + 1) % 500}`)]);
    const path = folder({ 'START.md': '', ...Object.fromEntries(states) });
    expect((await (await openWorkflow(path, 'unix')).scope()).files).toHaveLength(501);
  });

  test('warnings do not prevent a run', async () => {
    const path = folder({ 'START.md': '---\nmodle: opus\n---\n' });
    expect((await openWorkflow(path, 'unix')).findings).toStrictEqual([
      {
        level: 'warning',
        file: 'START.md',
        line: 2,
        column: 1,
        message: 'the key `modle` is unknown and has no effect (did you mean model?)',
      },
    ]);
  });
});

describe('an invalid workflow', () => {
  test('has all problems of all its files reported', async () => {
    const path = join(
      folder({
        'wf/A.md': '---\ntimeout: soon\nmodle: opus\nallowed_transitions:\n  - { tag: goto, target: NXET }\n---\n',
        'wf/B.md': '---\nmodel: "x\n---\n',
        'wf/C.sh': Buffer.from('echo \xe9\n', 'latin1'),
        'wf/D.md': '---\n',
        'wf/E.md': '---\nallowed_transitions:\n  - tag: fork\n    target: RUN\n    next: ../A.md\n---\n',
        'wf/NEXT.md': '',
        'wf/RUN.bat': '',
      }),
      'wf',
    );
    const error = await openWorkflow(path, 'unix').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidWorkflow);
    expect(error instanceof InvalidWorkflow && [error.exitCode, error.findings.length]).toStrictEqual([65, 9]);
    expect(error instanceof InvalidWorkflow && error.message.split('\n')).toStrictEqual([
      'wf cannot be run: 8 errors',
      'wf: there is no state to start in: add a START.md or 1_START.md',
      'A.md:2:10: `timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the text `soon`',
      'A.md:5:26: `target`: there is no state `NXET` in this workflow (did you mean NEXT?)',
      'B.md:2:8: this is not valid YAML: this `"` is never closed: add its `"`',
      'C.sh:1:6: this is not UTF-8 text: it has the byte 0xE9 at offset 5; save the file as UTF-8',
      'D.md:1:1: the frontmatter that this `---` opens is never closed: put a line `---` after its last key; if it is meant as a horizontal rule, put an empty line before it',
      'E.md:4:13: `target`: the state `RUN` exists only for Windows (RUN.bat); add RUN.sh to run it here',
      'E.md:5:11: `next`: `../A.md` contains `/`: name a state of this workflow, not a path',
    ]);
  });

  test.each([
    ['no entry', { 'A.md': '' }, 'there is no state to start in: add a START.md or 1_START.md'],
    [
      'two entries',
      { '1_START.md': '', 'START.md': '' },
      'it could start in 1_START.md or in START.md: keep only one of them',
    ],
    [
      'an ambiguous entry',
      { 'START.sh': '', 'START.md': '' },
      'it could start in START.md or in START.sh: keep only one of them',
    ],
    [
      'an entry for elsewhere',
      { 'START.bat': '' },
      'the state `START` exists only for Windows (START.bat); add START.sh to run it here',
    ],
  ])('%s', async (_, files, message) => {
    const path = folder(files);
    const name = basename(path);
    expect(await failure(openWorkflow(path, 'unix'))).toStrictEqual([
      65,
      `${name} cannot be run: 1 error\n${name}: ${message}`,
      undefined,
    ]);
  });

  test('a finding is one line, even about a name with a line break', async () => {
    const path = folder({ 'START.md': '---\nallowed_transitions: [{ tag: goto, target: "A\\nB" }]\n---\n' });
    expect((await failure(openWorkflow(path, 'unix')))[1].split('\n').slice(1)).toStrictEqual([
      'START.md:2:44: `target`: there is no state `A B` in this workflow',
    ]);
  });

  test('a zip that is refused', async () => {
    const path = join(folder({ 'x.zip': 'PK' }), 'x.zip');
    const [code, message] = await failure(openWorkflow(path, 'unix'));
    expect([code, message.split(': ').slice(0, 4)]).toStrictEqual([
      65,
      ['x.zip cannot be run', '1 error\nx.zip', 'it is damaged or not a zip', message.split(': ')[3]],
    ]);
  });
});

describe('a path that is not a workflow', () => {
  const HINT = 'Give a folder, a .zip, a .yaml, or a state in one of them (.md, .sh, .bat, .ps1).';

  test.each([
    ['codng', 'Did you mean coding?'],
    ['flow', 'Did you mean flow.zip?'],
    ['plan.md', 'Did you mean PLAN.md?'],
    ['nothing-like-it', HINT],
    ['PLAN.md/START.md', HINT],
    ['no/such/START.md', HINT],
  ])('a missing path: %s', async (name, hint) => {
    const path = join(folder({ 'coding/START.md': '', 'PLAN.md': '', 'flow.zip': '' }), name);
    expect(await failure(openWorkflow(path, 'unix'))).toStrictEqual([64, `there is no ${path}`, hint]);
  });

  test('another kind of file', async () => {
    const path = folder({ 'notes.txt': 'x', '.hidden.md': 'x', 'RUN.bat': 'x', '.md': 'x' });
    const at = (name: string) => failure(openWorkflow(join(path, name), 'unix'));
    expect(await at('notes.txt')).toStrictEqual([64, `${path}/notes.txt is not a workflow`, HINT]);
    expect(await at('.md')).toStrictEqual([64, `${path}/.md is not a workflow`, HINT]);
    expect(await at('.hidden.md')).toStrictEqual([
      64,
      `${path}/.hidden.md is not a state: README.md, CLAUDE.md, AGENTS.md and files whose name begins with a dot never are`,
      HINT,
    ]);
    expect(await at('RUN.bat')).toStrictEqual([
      64,
      'the state `RUN.bat` exists only for Windows (RUN.bat); add RUN.sh to run it here',
      HINT,
    ]);
    expect(await failure(openWorkflow('/dev/null', 'unix'))).toStrictEqual([
      64,
      '/dev/null is neither a file nor a folder',
      HINT,
    ]);
    expect(await failure(openWorkflow('', 'unix'))).toStrictEqual([64, 'the path of the workflow is empty', HINT]);
    expect((await failure(openWorkflow('a\0b', 'unix')))[0]).toBe(64);
  });

  test('circular links', async () => {
    const path = join(folder(), 'loop');
    symlinkSync(path, path);
    expect(await failure(openWorkflow(path, 'unix'))).toStrictEqual([
      64,
      `${path} cannot be read: its symbolic links form a loop`,
      HINT,
    ]);
  });

  test.skipIf(process.getuid?.() === 0)('an unreadable path (root may read everything)', async () => {
    const path = folder({ 'START.md': '' });
    mkdirSync(join(path, 'closed'), { mode: 0 });
    expect(await failure(openWorkflow(join(path, 'closed'), 'unix'))).toStrictEqual([
      64,
      `${path}/closed cannot be read: permission denied`,
      HINT,
    ]);
    chmodSync(join(path, 'START.md'), 0);
    expect(await failure(openWorkflow(path, 'unix'))).toStrictEqual([
      65,
      `${basename(path)} cannot be run: 1 error\nSTART.md: it cannot be read: permission denied`,
      undefined,
    ]);
    expect((await failure(openWorkflow(join(path, 'START.md'), 'unix')))[0]).toBe(64);
  });
});

describe('a state', () => {
  test('has the content of its file', async () => {
    const workflow = await openWorkflow(folder(SOUND), 'unix');
    const silent = {
      model: null,
      effort: null,
      timeoutMs: null,
      permissionMode: null,
      allowedTools: null,
      disallowedTools: null,
      appendSystemPrompt: null,
      description: null,
    };
    expect(await workflow.state('START.md')).toStrictEqual({
      ...silent,
      file: 'START.md',
      kind: 'prompt',
      rules: { policy: [{ tag: 'goto', target: 'NEXT', attributes: {} }], maxVisits: null },
      text: 'Start.',
    });
    expect(await workflow.state('RUN.sh')).toStrictEqual({
      ...silent,
      file: 'RUN.sh',
      kind: 'script',
      rules: { policy: [], maxVisits: null },
      text: SOUND['RUN.sh'],
    });
  });

  test('is read again each time, and so is the list of files', async () => {
    const path = folder(SOUND);
    const workflow = await openWorkflow(path, 'unix');
    writeFileSync(
      join(path, 'NEXT.md'),
      '---\nmodel: opus\nallowed_transitions: [{ tag: goto, target: NEW }]\n---\nLater.',
    );
    writeFileSync(join(path, 'NEW.md'), 'New.');
    const { model, text } = await workflow.state('NEXT.md');
    expect([model, text, (await workflow.state('NEW.md')).text]).toStrictEqual(['opus', 'Later.', 'New.']);
  });

  test('is an error with all its problems if it has become invalid, and can be fixed', async () => {
    const path = folder(SOUND);
    const workflow = await openWorkflow(path, 'unix');
    writeFileSync(
      join(path, 'NEXT.md'),
      '---\ntimeout: x\nallowed_transitions: [{ tag: goto, target: NOWHERE }]\n---\n',
    );
    expect(await failure(workflow.state('NEXT.md'))).toStrictEqual([
      65,
      'NEXT.md cannot be run: 2 errors\n' +
        'NEXT.md:2:10: `timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the text `x`\n' +
        'NEXT.md:3:44: `target`: there is no state `NOWHERE` in this workflow',
      undefined,
    ]);
    rmSync(join(path, 'NEXT.md'));
    expect((await failure(workflow.state('NEXT.md')))[1]).toBe(
      'NEXT.md cannot be run: 1 error\nNEXT.md: there is no state `NEXT.md` in this workflow',
    );
    writeFileSync(join(path, 'NEXT.md'), 'Mended.');
    expect((await workflow.state('NEXT.md')).text).toBe('Mended.');
  });

  test('is not read outside of the workflow', async () => {
    const path = folder({ 'wf/START.md': '', 'OUT.md': 'secret' });
    const workflow = await openWorkflow(join(path, 'wf'), 'unix');
    expect((await failure(workflow.state('../OUT.md')))[0]).toBe(65);
  });

  test('is read from the new zip if the zip was replaced', async () => {
    const path = join(folder({ 'x.zip': buildZip([{ name: 'START.md', data: 'old' }]) }), 'x.zip');
    const workflow = await openWorkflow(path, 'unix');
    expect((await workflow.state('START.md')).text).toBe('old');
    writeFileSync(path, buildZip([{ name: 'wf/START.md', data: 'newer' }]));
    expect((await workflow.state('START.md')).text).toBe('newer');
    writeFileSync(path, 'rubbish');
    expect((await failure(workflow.state('START.md')))[0]).toBe(65);
  });
});
