import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runWorkflow } from '../../src/app/start.ts';
import { buildZip } from '../workflow/zip-builder.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

function projectWith(files: Readonly<Record<string, string | Buffer>>): CliProject {
  const project = newCliProject();
  for (const [name, text] of Object.entries(files)) {
    const path = join(project.cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return project;
}

const script = (answer: string): string => `#!/bin/bash\necho '${answer}'\n`;
const FLOW = {
  'wf/START.sh': script('<fork next="B" n="1">W</fork><fork next="B" n="2">W</fork>'),
  'wf/B.sh':
    '#!/bin/bash\nif [ -e once ]; then echo "<result>b</result>"; else touch once; echo "<reset>B</reset>"; fi\n',
  'wf/W.sh': script('<result>w</result>'),
  'wf/SPARE.sh': script('<goto>GHOST</goto>'),
};

const hasRun = async (project: CliProject, runId = 'r1'): Promise<CliProject> => {
  await (await runWorkflow('wf', { cwd: project.cwd, runId })).finished;
  return project;
};

describe('raymond graph WORKFLOW', () => {
  test('prints Mermaid', async () => {
    const { code, out, err } = await projectWith(FLOW).raymond('graph', 'wf');
    expect([code, err]).toStrictEqual([0, '']);
    expect(out).toMatch(/^flowchart TD\n/);
    expect(out).toContain('{{"START.sh"}}');
    expect(out).toContain('["GHOST<br/>missing"]:::missing');
  });

  test('writes a page with --html, to a file named after the workflow or to that of --output', async () => {
    const project = projectWith(FLOW);
    expect(await project.raymond('graph', 'wf', '--html')).toMatchObject({
      code: 0,
      out: '',
      err: 'Wrote wf.graph.html\n',
    });
    expect(readFileSync(join(project.cwd, 'wf.graph.html'), 'utf8')).toMatch(/^<!doctype html>/);
    expect((await project.raymond('graph', 'wf', '--html', '--output', 'a.txt')).err).toBe('Wrote a.txt\n');
    expect(readFileSync(join(project.cwd, 'a.txt'), 'utf8')).toMatch(/^<!doctype html>/);
    const { code, err } = await project.raymond('graph', 'wf', '--html', '--format', 'svg');
    expect([code, err]).toStrictEqual([64, expect.stringContaining('--html and --format svg contradict each other')]);
  });

  test('draws a zip, a state file and a workflow that cannot run', async () => {
    const project = projectWith({
      'flow.zip': buildZip([{ name: 'START.md', data: 'Stop. <result>x</result>' }]),
      'wf/A.md': '---\nmodel: [\n---\nStop. <goto>B</goto>',
    });
    expect((await project.raymond('graph', 'flow.zip')).out).toContain('["START.md"]');
    expect((await project.raymond('graph', 'wf/A.md')).out).toMatch(/\["A\.md"\]:::open\n.*begin --> s0\n/s);
    expect((await project.raymond('graph', 'wf')).out).not.toContain('begin');
  });

  test.each([
    ['a.mmd', [], /^flowchart TD\n/],
    ['a.md', [], /^```mermaid\nflowchart TD\n.*\n```\n$/s],
    ['a.svg', [], /^<svg .*<title>START\.sh<\/title>/s],
    ['a.HTML', [], /^<!doctype html>.*<h1>wf<\/h1>/s],
    ['a.txt', ['--format', 'svg'], /^<svg /],
    ['wf/README.md', [], /^```mermaid\n/],
  ])('writes to %s %j, in the format of the extension or of --format', async (file, words, content) => {
    const project = projectWith(FLOW);
    const { code, out, err } = await project.raymond('graph', 'wf', '--output', file, ...words);
    expect([code, out, err]).toStrictEqual([0, '', `Wrote ${file}\n`]);
    expect(readFileSync(join(project.cwd, file), 'utf8')).toMatch(content);
  });

  test('prints SVG and pages too', async () => {
    const project = projectWith(FLOW);
    expect((await project.raymond('graph', 'wf', '--format', 'svg')).out).toMatch(/^<svg /);
    expect((await project.raymond('graph', 'wf', '--format', 'html')).out).toMatch(/^<!doctype html>/);
  });

  test('draws the current folder if no workflow is given', async () => {
    const { code, out, err } = await projectWith({ 'START.sh': script('<result>r</result>') }).raymond('graph');
    expect([code, err]).toStrictEqual([0, '']);
    expect(out).toContain('{{"START.sh"}}');
  });

  test('shows the findings of lint on the page', async () => {
    const { out } = await projectWith(FLOW).raymond('graph', 'wf', '--format', 'html');
    expect(out).toContain('"rule":"missing-state"');
  });

  test.skipIf(process.platform === 'win32')(
    'shows the syntax error of a script on the page, and no transitions of it (not on Windows)',
    async () => {
      const project = projectWith({
        'wf/START.sh': script('<call return="B">F</call>'),
        'wf/F.sh': script('<result>f</result>'),
        'wf/B.sh': '#!/bin/bash\nif [ -e x ]; then echo "<goto>END</goto>"\n',
        'wf/END.sh': script('<result>e</result>'),
      });
      const { out } = await project.raymond('graph', 'wf');
      expect(out.match(/ -.*(?=\n)/g)).toStrictEqual([
        ' --> s0',
        ' -->|"call"| s1',
        ' -.->|"return"| s2',
        ' -.->|"result"| s2',
        ' -->|"goto"| s3',
        ' -->|"result"| s3e',
      ]);
      expect((await project.raymond('graph', 'wf', '--format', 'html')).out).toContain('"rule":"bash-syntax"');
    },
  );

  test.each([
    [[], 'there is no workflow in this folder', 'Name a folder, a .zip, a .yaml, a state file or a run.'],
    [['empty'], 'there is no workflow in `empty`', 'Add a START.md'],
    [['above'], 'there is no workflow in `above`', 'There is a below/START.sh: name its folder'],
    [
      ['wf', '--output', 'wf/flow.md'],
      'flow.md would be a state of the workflow in that folder',
      'Choose another folder',
    ],
    [['wf', '--output', 'wf/START.sh', '--format', 'svg'], 'would be a state', 'another extension'],
    [['nowhere'], 'there is no workflow or run `nowhere`', 'Give a folder'],
    [['wx'], 'there is no workflow or run `wx`', 'Did you mean wf?'],
    [['wf', '--output', 'a.png'], 'the format is not clear from the name `a.png`', 'give --format'],
    [['wf', '--output', 'wf', '--format', 'svg'], 'cannot be written', 'another file'],
    [['wf', '--format', 'png'], '--format must be mermaid, svg or html, not `png`', ''],
    [['wf', '--run', 'r1'], 'give --run r1 or the workflow `wf`, not both', ''],
    [['--run', 'r1'], 'no such run: r1', ''],
  ])('refuses %j with 64', async (words, message, hint) => {
    const others = { 'empty/notes.txt': '', 'above/below/START.sh': FLOW['wf/B.sh'] };
    const { code, out, err } = await projectWith({ ...FLOW, ...others }).raymond('graph', ...words);
    expect([code, out]).toStrictEqual([64, '']);
    expect(err).toContain(message);
    expect(err).toContain(hint);
  });
});

/** The turns on the card of a state in a page. */
function turnsOn(page: string, state: string): readonly { title: string; answer: string; note: string }[] {
  const [, data = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? [];
  const { cards } = JSON.parse(data) as { cards: { name: string; turns: { shown: [] } | null }[] };
  return cards.find(({ name }) => name === state)?.turns?.shown ?? [];
}

describe('raymond graph RUN', () => {
  test('shows on its page what each turn said, cut if it is long', async () => {
    const project = projectWith({
      'wf/START.sh': '#!/bin/bash\nseq 1 100000; echo "<goto>ASK.md</goto>"',
      'wf/ASK.md': 'Ask. <result>x</result>',
      'answers.yaml': `answers: { ASK.md: "I am done. ${'long '.repeat(2_000)} <result>ok</result>" }`,
    });
    await project.raymond('wf', '--run-id', 'r1', '--quiet', '--agent', 'replay:answers.yaml');
    const { out } = await project.raymond('graph', 'r1', '--format', 'html');
    const [script] = turnsOn(out, 'START.sh');
    expect(script).toMatchObject({ title: 'main, turn 1', note: expect.stringContaining('only a part') });
    expect(script?.answer).toMatch(/\n100000\n<goto>ASK\.md<\/goto>$/);
    const [prompt] = turnsOn(out, 'ASK.md');
    expect(prompt?.answer).toMatch(/^I am done\. long long/);
    expect(prompt).toMatchObject({ note: expect.stringContaining('only a part') });
    rmSync(join(project.cwd, '.raymond', 'runs', 'r1', 'turns'), { recursive: true });
    expect(turnsOn((await project.raymond('graph', 'r1', '--format', 'html')).out, 'ASK.md')).toMatchObject([
      { answer: '', note: expect.stringContaining('not on this page') },
    ]);
  });

  test('shows how often each state and arrow was taken', async () => {
    const project = await hasRun(projectWith(FLOW));
    const { code, out, err } = await project.raymond('graph', 'last');
    expect([code, err]).toStrictEqual([0, '']);
    const lines = out.replaceAll(/\d+\.\ds/g, 'TIME').split('\n');
    expect(lines).toStrictEqual(
      expect.arrayContaining([
        '  s0{{"START.sh<br/>1 visit, TIME"}}',
        '  s1{{"W.sh<br/>2 visits, TIME"}}',
        '  s2{{"B.sh<br/>2 visits, TIME"}}',
        '  s3{{"SPARE.sh"}}:::unvisited',
        '  s0 ==>|"fork ×2"| s1',
        '  s0 -.->|"next ×1"| s2',
        '  s1 -->|"result ×2"| s1e',
        '  s2 -->|"result ×1"| s2e',
        '  s2 -->|"reset ×1"| s2',
      ]),
    );
    expect(await project.raymond('graph', 'r')).toStrictEqual({ code, out, err });
    expect(await project.raymond('graph', '--run', 'r1')).toStrictEqual({ code, out, err });
  });

  test('is drawn as a page, with the status of the run', async () => {
    const project = await hasRun(projectWith(FLOW));
    const { out } = await project.raymond('graph', 'r1', '--format', 'html');
    expect(out).toContain('<h1>r1</h1>');
    expect(out).toContain('<p id="summary">wf: completed, 3 agents, $0.00</p>');
  });

  test('shows visited states that no longer exist', async () => {
    const project = await hasRun(projectWith(FLOW));
    renameSync(join(project.cwd, 'wf', 'W.sh'), join(project.cwd, 'wf', 'V.sh'));
    writeFileSync(join(project.cwd, 'wf', 'START.sh'), script('<goto>B</goto>'));
    const { out } = await project.raymond('graph', 'r1');
    expect(out).toMatch(/\["W\.sh<br\/>no longer there<br\/>2 visits, [\d.]+s"\]:::missing/);
    expect(out).toContain('{{"V.sh"}}:::unvisited');
  });

  test('is drawn without its workflow if that no longer exists, with a message', async () => {
    const project = await hasRun(projectWith(FLOW));
    rmSync(join(project.cwd, 'wf'), { recursive: true });
    const { code, out, err } = await project.raymond('graph', 'r1');
    expect(code).toBe(0);
    expect(err).toMatch(
      /^warning: only the recorded steps are drawn, because the workflow cannot be read: there is no .*\n$/,
    );
    expect(out).toContain('"START.sh<br/>no longer there<br/>1 visit');
  });

  test('shows where agents failed', async () => {
    const project = await hasRun(
      projectWith({ ...FLOW, 'wf/W.sh': '#!/bin/bash\n[ "$n" = 1 ] && echo "<result>w</result>"\n' }),
    );
    expect((await project.raymond('graph', 'r1')).out).toContain('<br/>✗ main_w2 n#61;2"}}:::failed');
  });

  test('is used only with --run if a path has the same name', async () => {
    const project = await hasRun(projectWith({ ...FLOW, 'last/START.sh': script('<result>other</result>') }));
    expect((await project.raymond('graph', 'last')).out).not.toContain('visit');
    expect((await project.raymond('graph', '--run', 'last')).out).toContain('2 visits');
  });
});

test('docs/graph.svg is up to date: raymond graph examples/demo --output docs/graph.svg', async () => {
  const project = join(import.meta.dirname, '..', '..');
  const { out } = await newCliProject().raymond('graph', join(project, 'examples', 'demo'), '--format', 'svg');
  // Not toBe: nobody wants to read the difference.
  expect(readFileSync(join(project, 'docs', 'graph.svg'), 'utf8') === out).toBe(true);
});
