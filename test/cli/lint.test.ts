import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { RULES } from '../../src/lint/rules/index.ts';
import { buildZip } from '../workflow/zip-builder.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');

function projectWith(files: Readonly<Record<string, string | Buffer>>): CliProject {
  const project = newCliProject();
  for (const [name, text] of Object.entries(files)) {
    const path = join(project.cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return project;
}

const FINE = 'Say hello, then stop. <result>hello</result>\n';
const BROKEN = {
  'bad/START.md': [
    '---',
    'modle: opus',
    'allowed_transitions: [{ tag: goto, target: REVIW }, { tag: result }]',
    '---',
    'Look at it, then stop. <goto>REVIW</goto> or <result>x</result>',
  ].join('\n'),
  'bad/REVIEW.md': FINE,
};

describe('raymond lint --explain', () => {
  test('prints the level of a rule, its meaning, an example, and where the other rules are', async () => {
    const { code, out, err } = await newCliProject().raymond('lint', '--explain', 'no-shebang');
    expect([code, err]).toStrictEqual([0, '']);
    expect(out.split('\n')).toStrictEqual([
      'no-shebang (info)',
      '',
      'A `.sh` has no `#!` line. Raymond runs it with `/bin/bash` in any case.',
      '',
      '`START.sh`:',
      '',
      '    echo "<result>done</result>"',
      '',
      '    START.sh:1:1: info: the script has no `#!` line; Raymond runs it with /bin/bash (no-shebang)',
      '      Begin it with `#!/bin/bash`.',
      '',
      'Better:',
      '',
      '`START.sh`:',
      '',
      '    #!/bin/bash',
      '    echo "<result>done</result>"',
      '',
      expect.stringMatching(/^All rules are explained in \/.*docs\/lint\.md\.$/),
      '',
    ]);
  });

  test.each(RULES)('explains $id', async ({ id, level }) => {
    const { code, out } = await newCliProject().raymond('lint', '--explain', id);
    expect([code, out]).toStrictEqual([0, expect.stringMatching(`^${id} \\(${level}\\)\n\n[A-Z]`)]);
    expect(out).toMatch(/\nBetter:\n/);
    expect(out).not.toMatch(/```|^#+ /m);
  });

  test('refuses an unknown rule', async () => {
    const { code, out, err } = await newCliProject().raymond('lint', '--explain', 'no-shebag');
    expect([code, out]).toStrictEqual([64, '']);
    expect(err).toMatch(
      /^raymond: lint has no rule `no-shebag` \(did you mean no-shebang\?\)\nAll rules are explained in /,
    );
  });
});

describe('raymond lint', () => {
  test('prints every finding with its place, its rule and a hint, and exits with 65', async () => {
    const { code, out, err } = await projectWith(BROKEN).raymond('lint', 'bad');
    expect([code, err]).toStrictEqual([65, '']);
    expect(out.split('\n')).toStrictEqual([
      'bad: 1 error, 1 warning',
      'bad/START.md:2:1: warning: the key `modle` is unknown and has no effect (did you mean model?) (key-without-effect)',
      expect.stringMatching(/^ {2}\S/),
      'bad/START.md:3:44: error: `target`: there is no state `REVIW` in this workflow (did you mean REVIEW?) (missing-state)',
      expect.stringMatching(/^ {2}\S/),
      '',
      '1 workflow: 1 error, 1 warning.',
      '',
    ]);
  });

  test.each([
    [0, 1, 'raymond: 2 warnings, but --max-warnings allows 0\n'],
    [1, 1, 'raymond: 2 warnings, but --max-warnings allows 1\n'],
    [2, 0, ''],
  ])('with --max-warnings %i, two warnings exit with %i', async (most, code, err) => {
    const odd = { 'a/START.md': `{{nowhere}} ${FINE}`, 'b/START.md': `{{nowhere}} ${FINE}` };
    const { raymond } = projectWith({ ...odd, ...BROKEN });
    const args = ['--level', 'error', '--max-warnings', String(most)];
    expect(await raymond('lint', 'a', 'b', ...args)).toMatchObject({ code, err });
    const { out } = await raymond('lint', 'a', 'b', ...args, '--json');
    expect(JSON.parse(out)).toMatchObject({ ok: code === 0, warnings: 2 });
    expect((await raymond('lint', 'a', 'b', 'bad', ...args)).code).toBe(65);
  });

  test.each(['-1', 'none', '1.5'])('refuses %s for --max-warnings', async (most) => {
    const { code, err } = await projectWith({ 'START.md': FINE }).raymond('lint', `--max-warnings=${most}`);
    expect([code, err]).toStrictEqual([64, expect.stringContaining('--max-warnings must be a ')]);
  });

  test('checks the workflow in the current folder if none is given', async () => {
    const project = projectWith({ 'START.md': FINE, 'notes.txt': '' });
    expect(await project.raymond('lint')).toStrictEqual({
      code: 0,
      err: '',
      out: '.: nothing found\n\n1 workflow: nothing found.\n',
    });
    const two = projectWith({ 'START.md': FINE, '1_START.md': FINE });
    expect((await two.raymond('lint')).out).toContain('it could start in 1_START.md or in START.md');
  });

  test('checks several workflows of every kind, and exits with 0 if none has errors', async () => {
    const project = projectWith({
      'a/START.md': FINE,
      'b/ANY.md': FINE,
      'c.zip': buildZip([{ name: 'START.md', data: FINE }]),
    });
    const { code, out } = await project.raymond('lint', 'a', 'b/ANY.md', 'c.zip', 'a/');
    expect([code, out]).toStrictEqual([
      0,
      'a: nothing found\n\nb/ANY.md: nothing found\n\nc.zip: nothing found\n\na: nothing found\n\n4 workflows: nothing found.\n',
    ]);
  });

  test('names the files inside a zip, and continues after a zip that cannot be opened', async () => {
    const project = projectWith({
      'flow.zip': buildZip([{ name: 'START.md', data: '---\nmodle: x\n---\nStop. <result>x</result>' }]),
      'broken.zip': 'PK nonsense',
    });
    const { code, out } = await project.raymond('lint', 'broken.zip', 'flow.zip');
    expect(code).toBe(65);
    expect(out).toMatch(/^broken\.zip: error: .* \(unreadable-workflow\)$/m);
    expect(out).toMatch(/^flow\.zip\/START\.md:2:1: warning: .*\(did you mean model\?\) \(key-without-effect\)$/m);
    expect(out).toMatch(/^2 workflows: 1 error, 1 warning\.$/m);
  });

  test('skips a README.md among several paths, because a `*` of the shell includes it', async () => {
    const project = projectWith({ 'a/START.md': FINE, 'README.md': 'For people.' });
    expect(await project.raymond('lint', 'README.md', 'a')).toStrictEqual(await project.raymond('lint', 'a'));
    expect(await project.raymond('lint', 'README.md')).toMatchObject({ code: 64 });
  });

  test('uses the variables of the config and of --var, and the default of reset', async () => {
    const files = { 'wf/START.md': 'Greet {{who}} and {{whom}}, then stop. <result>x</result>' };
    const rulesIn = async (project: CliProject, ...more: string[]): Promise<readonly string[]> => {
      const { out } = await project.raymond('lint', 'wf', '--json', ...more);
      return JSON.parse(out).workflows[0].findings.map(({ message }: { message: string }) => message);
    };
    const bare = projectWith({ ...files, '.raymond/config.toml': '' });
    expect(await rulesIn(bare)).toHaveLength(2);
    const project = projectWith({ ...files, '.raymond/config.toml': '[vars]\nwho = "you"\n' });
    expect(await rulesIn(project)).toStrictEqual([expect.stringContaining('{{whom}}')]);
    expect(await rulesIn(project, '--var', 'whom=them')).toStrictEqual([]);

    const calls = {
      'wf/START.md': 'Stop. <call return="END">A</call>',
      'wf/A.md': 'Stop. <reset>END</reset>',
      'wf/END.md': FINE,
    };
    expect(await rulesIn(projectWith({ ...calls, '.raymond/config.toml': '' }))).toStrictEqual([]);
    const clearing = projectWith({ ...calls, '.raymond/config.toml': '[raymond]\nreset_stack = "clear"\n' });
    expect(await rulesIn(clearing)).toStrictEqual([expect.stringContaining('never returns')]);
  });

  test('hides findings below --level, and says so', async () => {
    const project = projectWith(BROKEN);
    const { code, out } = await project.raymond('lint', 'bad', '--level', 'error');
    expect(code).toBe(65);
    expect(out.match(/^bad\/.*$/gm)).toStrictEqual([expect.stringContaining(': error: ')]);
    expect(out).toMatch(/^1 workflow: 1 error, 1 warning \(1 of them not shown\)\.$/m);
  });

  test('says so if all findings of a workflow are hidden', async () => {
    const project = projectWith({ 'a/START.md': `---\nmodle: x\n---\n${FINE}`, 'b/START.md': FINE });
    const { code, out } = await project.raymond('lint', 'a', 'b', '--level', 'error');
    expect([code, out]).toStrictEqual([
      0,
      'a: no errors (1 warning not shown)\n\nb: nothing found\n\n2 workflows: 1 warning (1 of them not shown).\n',
    ]);
  });

  test('checks the other workflows if a path does not exist, and exits with 64', async () => {
    const project = projectWith({ 'a/START.md': FINE, 'b/START.md': FINE });
    const one = await project.raymond('lint', 'a', 'nowhere', 'b');
    expect(one.code).toBe(64);
    expect(one.out).toBe('a: nothing found\n\nb: nothing found\n\n2 workflows: nothing found.\n');
    expect(one.err).toMatch(/^raymond: there is no \S*nowhere\n/);
    const two = await project.raymond('lint', 'nowhere', 'a', 'nothing', '--json');
    expect([two.code, JSON.parse(two.out).workflows]).toStrictEqual([64, [{ name: 'a', path: 'a', findings: [] }]]);
    expect(two.err).toMatch(/nowhere\n.*nothing\n/);
  });

  test('says that an empty folder has no states', async () => {
    const { code, out } = await projectWith({ 'wf/data.json': '{}' }).raymond('lint', 'wf');
    expect(code).toBe(65);
    expect(out).toMatch(/^wf: error: there are no states here \(missing-entry\)$/m);
  });

  test('takes --var without a value: it does not check values', async () => {
    const project = projectWith({ 'wf/START.md': 'Greet {{who}}, then stop. <result>x</result>' });
    expect((await project.raymond('lint', 'wf', '--var', 'who')).out).toContain('wf: nothing found');
  });

  test('checks for another platform', async () => {
    const project = projectWith({ 'wf/START.bat': '@echo off\r\necho ^<result^>x^</result^>\r\n' });
    expect((await project.raymond('lint', 'wf', '--platform', 'unix')).code).toBe(65);
    expect(await project.raymond('lint', 'wf', '--platform', 'windows')).toMatchObject({ code: 0 });
  });

  test('prints one document with --json', async () => {
    const { code, out } = await projectWith(BROKEN).raymond('lint', 'bad', '--json', '--level', 'error');
    expect(code).toBe(65);
    expect(JSON.parse(out)).toStrictEqual({
      ok: false,
      errors: 1,
      warnings: 1,
      infos: 0,
      workflows: [
        {
          name: 'bad',
          path: 'bad',
          findings: [
            {
              rule: 'missing-state',
              level: 'error',
              prevents_run: true,
              file: 'bad/START.md',
              line: 3,
              column: 44,
              message: '`target`: there is no state `REVIW` in this workflow (did you mean REVIEW?)',
              hint: expect.any(String),
              example: [],
            },
          ],
        },
      ],
    });
  });

  test('prints the full path that the message shortens', async () => {
    const states = Array.from({ length: 12 }, (_, index) => [
      `wf/S${index}.md`,
      `---\nallowed_transitions: [{ tag: goto, target: S${(index + 1) % 12} }]\n---\nContinue, then stop.`,
    ]);
    const project = projectWith({ ...Object.fromEntries(states), 'wf/START.md': 'Stop. <goto>S0</goto>' });
    const { out } = await project.raymond('lint', 'wf', '--level', 'warning');
    expect(out).toContain('more) …');
    const example = out.match(/^ {2}Example: (.*)$/m)?.[1];
    expect(example?.match(/S\d+\.md/g)).toHaveLength(13);
    const { out: json } = await project.raymond('lint', 'wf', '--json', '--level', 'warning');
    expect(JSON.parse(json).workflows[0].findings[0].example).toHaveLength(13);
  });

  test('finds no errors and no warnings in the examples of the project', async () => {
    const paths = readdirSync(EXAMPLES).map((name) => join(EXAMPLES, name));
    const { code, out } = await newCliProject().raymond('lint', ...paths, '--level', 'warning');
    expect(out.match(/^.*: (?:error|warning): .*$/gm)).toBeNull();
    expect(code).toBe(0);
  });

  test.each([
    [[], 'there is no workflow in this folder\nName a folder, a .zip, a .yaml or a state file.\n'],
    [['README.md', 'a/README.md'], 'there is no workflow to check'],
    [['nowhere'], 'there is no '],
    [['.', '--level', 'warn'], '--level must be error, warning or info, not `warn`'],
    [['.', '--format', 'xml'], '--format must be text or github, not `xml`'],
    [['.', '--platform', 'mac'], '--platform must be unix or windows, not `mac`'],
    [['.', '--format', 'github', '--json'], 'give --json or --format github, not both'],
  ])('refuses %j with 64', async (words, message) => {
    const { code, out, err } = await newCliProject().raymond('lint', ...words);
    expect([code, out]).toStrictEqual([64, '']);
    expect(err).toContain(message);
  });
});

describe('annotations for GitHub', () => {
  test("have their place, their rule as a title, and GitHub's levels", async () => {
    const { code, out } = await projectWith(BROKEN).raymond('lint', 'bad', '--format', 'github');
    expect(code).toBe(65);
    expect(out.split('\n')).toStrictEqual([
      expect.stringMatching(/^::warning file=bad\/START\.md,line=2,col=1,title=key-without-effect::/),
      expect.stringMatching(
        /^::error file=bad\/START\.md,line=3,col=44,title=missing-state::`target`: there is no state/,
      ),
      '1 workflow: 1 error, 1 warning.',
      '',
    ]);
  });

  test('are placed at the zip for files inside it, and name the file', async () => {
    const zip = buildZip([{ name: 'START.md', data: '---\nmodle: x\n---\nStop. <result>x</result>' }]);
    const { out } = await projectWith({ 'flow.zip': zip, 'bad.zip': 'PK' }).raymond(
      'lint',
      'flow.zip',
      'bad.zip',
      '--format',
      'github',
    );
    expect(out.split('\n').slice(0, 2)).toStrictEqual([
      expect.stringMatching(
        /^::warning file=flow\.zip,title=key-without-effect::flow\.zip\/START\.md:2:1: the key `modle` is unknown/,
      ),
      expect.stringMatching(/^::error file=bad\.zip,title=unreadable-workflow::(?!bad)/),
    ]);
  });

  test('escape special characters', async () => {
    const name = 'a,b:c%d';
    const project = projectWith({ [`${name}/START.md`]: 'Stop. <goto>50%::x</goto>' });
    const { out } = await project.raymond('lint', name, '--format', 'github', '--level', 'error');
    const [line = '', total] = out.split('\n');
    expect(line).toMatch(/^::error file=a%2Cb%3Ac%25d\/START\.md,line=1,col=7,title=[\w-]+::/);
    expect(line).toContain('50%25');
    expect(total).toMatch(/^1 workflow: /);
  });
});

test('a terminal gets colors and short lines, a pipe gets neither', async () => {
  const project = projectWith(BROKEN);
  const screen = { color: true, size: () => ({ columns: 60, rows: 20 }) };
  const terminal = { ...project.terminal(), outIsScreen: true, screen: screen as never };
  await runCli(['lint', 'bad'], terminal);
  const { out } = terminal.output();
  expect(out).toContain('\u001b[31merror\u001b[39m');
  const lines = out.split('\n').map((line) => stripVTControlCharacters(line));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  expect((await project.raymond('lint', 'bad')).out).not.toContain('\u001b');
});
