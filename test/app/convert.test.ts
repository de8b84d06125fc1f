import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Conversion, convertWorkflow } from '../../src/app/workflows/convert.ts';

type Files = Readonly<Record<string, string>>;

/** A folder in which workflows are converted. */
function newPlace(files: Files = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-convert-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(cwd, 'wf'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const convert = (from: string, to: string, lossy = false): Promise<Conversion> =>
    convertWorkflow(from, to, { cwd, lossy });
  const read = (folder: string): Files =>
    Object.fromEntries(
      readdirSync(join(cwd, folder)).map((name) => [name, readFileSync(join(cwd, folder, name), 'utf8')]),
    );
  return { cwd, convert, read };
}

const inFolder = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`wf/${name}`, text]));

const WORKFLOW: Files = {
  'START.md':
    '---\n# who plans\nmodel: sonnet # for now\nallowed_transitions:\n  - { tag: goto, target: CHECK.sh }\n---\n  Plan "it".\r\n\n---\n\ttail \n',
  'CHECK.sh': '#!/bin/bash\n# ---\n# timeout: 10m\n# ---\nprintf \'<result>%s</result>\' "$item"',
  'CHECK.ps1': '\uFEFFWrite-Output "<result>x</result>"\r\n',
  'ÜBER.md': 'x',
  'true.md': 'yes\n\n\n',
  'workflow.yaml': '# about it\ndefault_budget: 1.50 # dollars\nenvironment: { HOST: "${HOST}" }\n',
};

describe('a folder, a zip and one file', () => {
  test('become each other, with every byte of prompts and scripts', async () => {
    const { convert, read } = newPlace(inFolder(WORKFLOW));
    await convert('wf', 'a.zip');
    await convert('a.zip', 'b.yaml');
    await convert('b.yaml', 'c.zip');
    await convert('c.zip', 'd');
    expect(read('d')).toStrictEqual(WORKFLOW);
  });

  test('of one file look as an author would write it, with START first', async () => {
    const { cwd, convert } = newPlace(inFolder(WORKFLOW));
    expect((await convert('wf', 'b.yaml')).leftOut).toStrictEqual([]);
    expect(readFileSync(join(cwd, 'b.yaml'), 'utf8')).toBe(`# about it
default_budget: 1.50 # dollars
environment: { HOST: "\${HOST}" }

states:
  START:
    # who plans
    model: sonnet # for now
    allowed_transitions:
      - { tag: goto, target: CHECK.sh }
    prompt: "  Plan \\"it\\".\\r\\n\\n---\\n\\ttail\\ \\n"

  CHECK:
    sh: |-
      #!/bin/bash
      # ---
      # timeout: 10m
      # ---
      printf '<result>%s</result>' "$item"
    ps1: "\uFEFFWrite-Output \\"<result>x</result>\\"\\r\\n"

  "true":
    prompt: |+
      yes


  ÜBER:
    prompt: x
`);
  });

  test('always make the same zip, and keep what can be run as a program', async () => {
    const { cwd, convert } = newPlace(inFolder({ 'START.sh': 'a', helper: 'b' }));
    chmodSync(join(cwd, 'wf', 'helper'), 0o755);
    await convert('wf', 'a.zip');
    await convert('a.zip', 'b');
    await convert('b', 'c.zip');
    expect(readFileSync(join(cwd, 'c.zip')).equals(readFileSync(join(cwd, 'a.zip')))).toBe(true);
    expect(['helper', 'START.sh'].map((file) => statSync(join(cwd, 'b', file)).mode & 0o100)).toStrictEqual([0o100, 0]);
  });

  test('keep any text', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(' ', '\n', 'a', '\t', '#', '-', ':', '\r', '|') }),
    );
    const clean = text.filter(
      (each) => Buffer.from(each).toString() === each && !each.includes('\0') && !each.startsWith('\uFEFF'),
    );
    await fc.assert(
      // A state of one file must have a text.
      fc.asyncProperty(
        clean.filter((each) => each.trim() !== ''),
        clean,
        async (body, script) => {
          const place = mkdtempSync(join(tmpdir(), 'raymond-convert-'));
          try {
            mkdirSync(join(place, 'wf'));
            writeFileSync(join(place, 'wf', 'START.md'), `---\n---\n${body}`);
            writeFileSync(join(place, 'wf', 'RUN.sh'), `x${script}`);
            await convertWorkflow('wf', 'a.yaml', { cwd: place, lossy: false });
            await convertWorkflow('a.yaml', 'b', { cwd: place, lossy: false });
            expect(readFileSync(join(place, 'b', 'START.md'), 'utf8').replace(/^---\n---\n/, '')).toBe(
              body.replace(/^---\n---\n/, ''),
            );
            expect(readFileSync(join(place, 'b', 'RUN.sh'), 'utf8')).toBe(`x${script}`);
          } finally {
            rmSync(place, { recursive: true, force: true, maxRetries: 5 });
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

const ONE_FILE = `# the manifest
id: flow
states:
  # Begins.
  START:
    model: &model haiku
    prompt: |
      ---
      Continue with <goto>RUN</goto>.
  RUN:
    # not long
    timeout: 90
    on_start: ignored
    sh: |
      #!/bin/bash
      echo '<goto>END</goto>'
    bat: "@echo off\\r\\necho hi\\r\\n"
  QUIET: { sh: 'echo "<result></result>"' }
  END.md: { prompt: 'End.', model: *model }
`;

describe('one file becomes files', () => {
  test('with its keys as frontmatter, also of scripts', async () => {
    const { convert, read } = newPlace({ 'a.yaml': ONE_FILE });
    expect((await convert('a.yaml', 'b')).leftOut).toStrictEqual([]);
    expect(read('b')).toStrictEqual({
      'workflow.yaml': '# the manifest\nid: flow\n',
      'START.md': '---\n# Begins.\nmodel: haiku\n---\n---\nContinue with <goto>RUN</goto>.\n',
      'RUN.sh':
        "#!/bin/bash\n# ---\n# # not long\n# timeout: 90\n# on_start: ignored\n# ---\necho '<goto>END</goto>'\n",
      'RUN.bat':
        '@echo off\r\n:: ---\r\n:: # not long\r\n:: timeout: 90\r\n:: on_start: ignored\r\n:: ---\r\necho hi\r\n',
      'QUIET.sh': 'echo "<result></result>"',
      'END.md': '---\nmodel: haiku\n---\nEnd.',
    });
  });

  test('and names comments for which a script has no place', async () => {
    const { convert } = newPlace({ 'a.yaml': 'states:\n  # Says hi.\n  START:\n    sh: echo\n' });
    expect((await convert('a.yaml', 'b')).leftOut).toStrictEqual(['the comments beside the script of `START`']);
  });
});

describe('a conversion is refused', () => {
  const HEX = 'a'.repeat(64);
  test.each<[string, Files, string, string, RegExp]>([
    [
      'for what is no state',
      inFolder({ 'START.md': '', 'lib.py': '', 'README.md': '' }),
      'wf',
      'a.yaml',
      /^wf has what one file cannot hold: README.md, lib.py$/,
    ],
    [
      'for a prompt and a script of one name',
      inFolder({ 'A.md': '', 'A.sh': '' }),
      'wf',
      'a.yaml',
      /^wf cannot be converted:\nA.md and A.sh have one name: in one file, a state is a prompt or a script$/,
    ],
    [
      'for a key that would be a text',
      inFolder({ 'A.md': '---\nsh: x\n---\n' }),
      'wf',
      'a.yaml',
      /\nA.md has the key `sh`: in one file, that is the text of a state$/,
    ],
    [
      'for keys in two places',
      { 'a.yaml': 'states: { A: { timeout: 5, sh: "# ---\\n# timeout: 6\\n# ---\\n" } }' },
      'a.yaml',
      'b',
      /\nthe state `A` has keys beside its script and frontmatter in it: keep them in one place$/,
    ],
    [
      'for a name that would be another',
      inFolder({ 'A.sh.md': 'x' }),
      'wf',
      'a.yaml',
      /^A.sh.md would not mean the same in a.yaml/,
    ],
    [
      'for targets that only one file finds',
      { 'a.yaml': 'states: { A: { prompt: x, allowed_transitions: [{ tag: goto, target: B.md }] }, B: { sh: x } }' },
      'a.yaml',
      'b',
      /^b would have errors, so it is not written:\nA.md:\d+:\d+: `target`: there is no state `B.md`/,
    ],
    [
      'for errors',
      inFolder({ 'A.md': '---\nmodel: [\n---\n' }),
      'wf',
      'a.zip',
      /^wf has errors, so it is not converted:\nA.md:2:8: this is not valid YAML/,
    ],
    [
      'for a folder without states',
      inFolder({ 'x.txt': '' }),
      'wf',
      'a.zip',
      /^wf has no states: it is not a workflow$/,
    ],
    [
      'for a state',
      inFolder({ 'A.md': '' }),
      'wf/A',
      'a.zip',
      /^wf\/A is a state: name its workflow, which is converted as a whole$/,
    ],
    ['into the same kind', inFolder({ 'A.md': '' }), 'wf', 'b', /^wf and b are both a folder: copy it$/],
    ['where there is something', { ...inFolder({ 'A.md': '' }), 'a.zip': '' }, 'wf', 'a.zip', /^a.zip exists already$/],
    [
      'where there is no folder',
      inFolder({ 'A.md': '' }),
      'wf',
      'no/a.zip',
      /^no\/a.zip cannot be written \(ENOENT\)$/,
    ],
    [
      'under the hash of another file',
      inFolder({ 'A.md': '' }),
      'wf',
      `${HEX}.zip`,
      /its name states the SHA-256 of another file; its own is [0-9a-f]{64}/,
    ],
    ['of nothing', {}, 'none', 'a.zip', /there is no .*none$/],
  ])('%s', async (_, files, from, to, message) => {
    const { cwd, convert } = newPlace(files);
    const before = readdirSync(cwd);
    await expect(convert(from, to)).rejects.toThrow(message);
    expect(readdirSync(cwd)).toStrictEqual(before);
  });

  test('for workflows that it would no longer reach, and states that prompts would no longer name', async () => {
    const { cwd, convert } = newPlace({
      'a.yaml':
        "states: { START: { prompt: 'Answer <goto>RUN.md</goto>.' }, RUN: { sh: 'echo \"<result>x</result>\"' } }",
      ...inFolder({ 'START.sh': "echo '<reset-workflow>other</reset-workflow>'" }),
    });
    mkdirSync(join(cwd, 'wf', 'other'));
    writeFileSync(join(cwd, 'wf', 'other', 'START.sh'), "echo '<result>x</result>'");
    await expect(convert('a.yaml', 'b')).rejects.toThrow(/^b would have errors, so it is not written:\n.*`RUN.md`/);
    await expect(convert('wf', 'c.yaml', true)).rejects.toThrow(
      /^c.yaml would have errors, so it is not written:\n.*other/,
    );
    expect(readdirSync(cwd).sort()).toStrictEqual(['a.yaml', 'wf']);
  });

  test('for folders and links that lead out; what does not fit can be left out', async () => {
    const { cwd, convert } = newPlace({ ...inFolder({ 'A.md': '', 'B.sh': '' }), outside: '' });
    mkdirSync(join(cwd, 'wf', 'lib'));
    await expect(convert('wf', 'a.zip')).rejects.toThrow('wf has what a zip cannot hold: lib/');
    expect(await convert('wf', 'a.zip', true)).toStrictEqual({ files: ['A.md', 'B.sh'], leftOut: ['lib/'] });
    expect(existsSync(join(cwd, 'a.zip'))).toBe(true);
    symlinkSync(join(cwd, 'outside'), join(cwd, 'wf', 'x.txt'));
    await expect(convert('wf', 'b.zip')).rejects.toThrow(/x.txt: it is a link that leads out of the workflow/);
  });
});
