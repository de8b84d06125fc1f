import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CliProject, newCliProject } from './cli-project.ts';

const windows = process.platform === 'win32';

/** A room with these files in it. */
function projectWith(files: Readonly<Record<string, string>>): CliProject {
  const project = newCliProject();
  mkdirSync(join(project.cwd, '.raymond'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project.cwd, name)), { recursive: true });
    writeFileSync(join(project.cwd, name), text);
  }
  return project;
}

const PROMPT = 'Say <result>r</result>.';
const SAYS = 'answers: { START: <result>r</result> }\n';

describe('raymond test', () => {
  test('runs the scenarios among the paths that a shell gives, and names workflows without scenarios', async () => {
    const files = { 'w/a/START.md': PROMPT, 'w/a/a.test.yaml': SAYS, 'w/b/START.md': PROMPT, 'w/README.md': '# w' };
    const project = projectWith({
      ...files,
      'w/c.zip': '',
      'w/d.zip': '',
      'e/e.test.yaml': `workflow: ../w/b\n${SAYS}`,
    });
    const paths = ['w/a', 'w/b', 'w/README.md', 'w/c.zip', 'w/d.zip'];
    const { code, out, err } = await project.raymond('test', ...paths);
    expect({ code, err }).toStrictEqual({ code: 0, err: '' });
    expect(out).toContain('1 scenario: all passed');
    expect(out).toMatch(/\)\nThere are no scenarios in w\/b, w\/c\.zip, w\/d\.zip\.\n$/);
    const { out: json } = await project.raymond('test', ...paths, '--json');
    expect(JSON.parse(json)).toMatchObject({ without_scenarios: ['w/b', 'w/c.zip', 'w/d.zip'] });
    // One that is tested from elsewhere is not among them.
    const elsewhere = await project.raymond('test', 'e', 'w/b');
    expect(elsewhere).toMatchObject({ code: 0, out: expect.not.stringContaining('There are no scenarios') });
  });

  test('never hides a single equal line of a diff', async () => {
    const [was, wanted] = [(last: string) => `"0\\n1\\n2\\n3\\n4\\n${last}"`, (first: string) => `"${first}9\\nx\\n"`];
    const scenario = `files: { short: ${was('5')}, long: ${wanted('a\\nb\\nc\\nd\\ne\\nf\\n')} }
${SAYS}expect: { files: { short: ${was('five')}, long: ${wanted('a\\nb\\nc\\nd\\ne\\nf\\n').replace('x', 'y')} } }`;
    const project = projectWith({ 'START.md': PROMPT, 'a.test.yaml': scenario });
    const { out } = await project.raymond('test');
    expect(out).toContain('\n      0\n      1\n      2\n      3\n      4\n    - five\n    + 5\n');
    expect(out).toContain('\n    … 3 the same\n      d\n      e\n      f\n      9\n    - y\n    + x\n');
  });

  test.skipIf(windows)('lists what executed scripts may be missing (not on Windows)', async () => {
    const answers = 'answers: { START: <result>2</result> }\n';
    const project = projectWith({
      'START.sh': 'echo "<result>$(grep -c . list.txt)</result>"',
      'a.test.yaml': answers,
    });
    expect((await project.raymond('test')).code).toBe(0);
    const { out } = await project.raymond('test', '--real-scripts');
    expect(out).not.toContain('With --real-scripts');
    writeFileSync(join(project.cwd, 'a.test.yaml'), `${answers}expect: { result: 2 }`);
    const failed = await project.raymond('test', '--real-scripts');
    expect(failed).toMatchObject({
      code: 1,
      out: expect.stringContaining('\n\nWith --real-scripts, scripts find only'),
    });
    expect((await project.raymond('test')).out).not.toContain('With --real-scripts');
  });

  test('gives hints about --graph that fit the test command', async () => {
    const project = projectWith({ 'START.md': PROMPT, 'a.test.yaml': SAYS });
    const { err } = await project.raymond('test', '--graph', 'x.png');
    expect(err).toBe(
      'raymond: the format is not clear from the name `x.png`\nUse one of the extensions .mmd, .mermaid, .md, .svg, .html, .htm.\n',
    );
    expect((await project.raymond('test', '--graph', 'nowhere/x.svg')).err).toContain('another file for --graph.');
  });
});

describe.skipIf(windows)('a recording that differs from its run (not on Windows)', () => {
  const STATES = { 'w/START.sh': 'cat list.txt > copy.txt && echo "<result>r</result>"', 'list.txt': 'a\n' };

  test('is kept, with a list of what its scripts may be missing', async () => {
    const project = projectWith({ ...STATES, 'answers.yaml': '{}' });
    await project.raymond('w', '--agent', 'replay:answers.yaml');
    const { code, out } = await project.raymond(
      'test',
      '--record',
      'last',
      '--real-scripts',
      '--output',
      'w/a.test.yaml',
    );
    expect(code).toBe(1);
    expect(out).toContain('\nScripts were run in a folder that holds only what the scenario puts there. ');
    expect(out).toMatch(/\nThe file was written anyway\. To run it again: raymond test w\/a\.test\.yaml\n$/);
  });

  test('may be of a workflow that has changed since', async () => {
    const project = projectWith({ ...STATES, 'answers.yaml': '{}' });
    await project.raymond('w', '--agent', 'replay:answers.yaml');
    writeFileSync(join(project.cwd, 'w/START.sh'), 'echo "<goto>END.md</goto>"');
    writeFileSync(join(project.cwd, 'w/END.md'), PROMPT);
    const { out, err } = await project.raymond('test', '--record', 'last', '--output', '-');
    expect(out).toContain('answers:\n');
    expect(err).toMatch(/\nThe workflow may have changed since the run: [^\n]+\n$/);
  });
});
