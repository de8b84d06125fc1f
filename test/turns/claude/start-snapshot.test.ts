import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readStartSnapshot } from '../../../src/turns/claude/start-checks.ts';
import { git } from '../../git.ts';

const NOON = new Date(2026, 10, 17, 12).getTime();

function setUp() {
  const root = mkdtempSync(join(tmpdir(), 'raymond-snapshot-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const cwd = join(root, 'project', 'inner');
  mkdirSync(cwd, { recursive: true });
  let seconds = 1;
  /** Writes a file, each time with another time. */
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
    seconds += 1;
    utimesSync(join(root, name), seconds, seconds);
  };
  const read = (now = NOON): Promise<string | null> => readStartSnapshot(cwd, process.env, join(root, 'config'), now);
  return { root, cwd, write, read };
}

test('changes with memory, what it imports, settings, agents and the date, in all folders around', async () => {
  const { write, read } = setUp();
  const seen = [await read()];
  const change = async (name: string, text = '{}'): Promise<void> => {
    write(name, text);
    seen.push(await read());
    expect(await read()).toBe(seen.at(-1));
  };
  await change('project/inner/CLAUDE.md', 'Read\n@../more.md');
  await change('project/more.md', 'more');
  await change('project/more.md', 'less');
  await change('project/CLAUDE.local.md');
  await change('project/inner/.claude/settings.json');
  await change('project/inner/.claude/skills/one/SKILL.md');
  await change('config/agents/one.md');
  seen.push(await read(NOON + 24 * 3600_000));
  expect(new Set(seen).size).toBe(9);
});

test('reads memory files that import each other once', async () => {
  const { write, read } = setUp();
  const names = Array.from({ length: 12 }, (_, index) => `m${index}.md`);
  const imports = names.map((name) => `@${name}`).join('\n');
  for (const name of ['CLAUDE.md', ...names]) write(`project/inner/${name}`, imports);
  const lines = (await read())?.split('\n').filter((line) => line.includes('/project/inner/'));
  expect(lines?.length).toBe(13);
});

test('changes with what git says of the repository, and not with what Raymond writes', async () => {
  const { cwd, write, read } = setUp();
  git(cwd, 'init');
  const empty = await read();
  write('project/inner/.raymond/runs/x', '');
  expect(await read()).toBe(empty);
  write('project/inner/file', '');
  const unknown = await read();
  git(cwd, 'add', '.');
  const added = await read();
  git(cwd, 'commit', '-m', 'one');
  expect(new Set([empty, unknown, added, await read()]).size).toBe(4);
});

test('leaves out what a skill brings along for its scripts', async () => {
  const { write, read } = setUp();
  write('config/skills/one/SKILL.md', 'one');
  const before = await read();
  write('config/skills/one/node_modules/package/index.js', '');
  expect(await read()).toBe(before);
  write('config/skills/one/script.sh', '');
  expect(await read()).not.toBe(before);
});

test('lets others work while it looks at many files', async () => {
  const { root, cwd, write } = setUp();
  for (let number = 0; number < 200; number++) write(`config/skills/s${number}/SKILL.md`, '');
  let [rounds, isOver] = [0, false];
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  // Without git, nothing else is waited for.
  await readStartSnapshot(cwd, { PATH: root }, join(root, 'config'), NOON);
  isOver = true;
  expect(rounds).toBeGreaterThan(100);
});
