import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runWorkflow } from '../../src/app/start.ts';
import type { Event, Printed } from '../../src/core/run/event.ts';
import { parseClaudeLine } from '../../src/turns/claude/event.ts';
import { createClaudePrintReader } from '../../src/turns/claude/prints.ts';
import { PrintReporter } from '../../src/turns/print-reporter.ts';
import { runScriptTurn } from '../../src/turns/script-turn.ts';
import { eventually } from '../process/turns.ts';
import { newTurnContext } from './turn-context.ts';
import { newScriptTurn } from './turns.ts';

function newFolder(files: Readonly<Record<string, string>> = {}): string {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-print-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(cwd, 'wf'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, 'wf', name), text);
  return cwd;
}

const textOf = ({ text }: Printed): string => text;
const printedIn = (events: readonly Event[]): readonly Printed[] => events.filter((event) => event.kind === 'printed');

test('a <print> of a script is shown while the script runs, on either stream, however it is cut', async () => {
  const cwd = newFolder({
    'START.sh': `printf 'x <pri'; sleep 0.2; printf 'nt>on\\303'; sleep 0.2; printf '\\251</print>'
      echo '<print>odd</print>' >&2
      until [ -e go ]; do sleep 0.01; done; echo '<result>r</result>'`,
  });
  const shown: Printed[] = [];
  const events: Event[] = [];
  const run = await runWorkflow('wf', {
    cwd,
    watchPrints: (printed: Printed) => shown.push(printed),
    observe: (event) => events.push(event),
  });
  await eventually('both texts', () => shown.length === 2);
  expect(shown.map(textOf).toSorted()).toStrictEqual(['odd', 'oné']);
  expect(printedIn(events)).toStrictEqual([]);
  writeFileSync(join(cwd, 'go'), '');
  expect((await run.finished).agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'r' }]);
  expect(shown).toHaveLength(2);
  expect(printedIn(events).map(textOf)).toStrictEqual(shown.map(textOf));
  expect(printedIn(events).map(({ agent, state, turn }) => [agent, state, turn])).toStrictEqual([
    ['main', 'START.sh', 1],
    ['main', 'START.sh', 1],
  ]);
});

test('what a short script prints is shown before the end of its turn, and is on record if nobody watches', async () => {
  const script = `echo '<print>a</print><result>r</result>'; echo '<print>b</print>' >&2`;
  const story: string[] = [];
  const watched = await runWorkflow('wf', {
    cwd: newFolder({ 'START.sh': script }),
    watchPrints: ({ text }) => story.push(text),
    observe: ({ kind }) => story.push(kind),
  });
  await watched.finished;
  expect(story.slice(story.indexOf('turn_started') + 1, story.indexOf('turn_ended') + 1)).toStrictEqual([
    'a',
    'b',
    'printed',
    'printed',
    'turn_ended',
  ]);
  const events: Event[] = [];
  const observe = (event: Event) => events.push(event);
  await (await runWorkflow('wf', { cwd: newFolder({ 'START.sh': script }), observe })).finished;
  expect(printedIn(events).map(textOf)).toStrictEqual(['a', 'b']);
});

test('a script that fails has shown its texts, too', async () => {
  const events: Event[] = [];
  const cwd = newFolder({ 'START.sh': 'echo "<print>a</print>"; exit 3' });
  await (await runWorkflow('wf', { cwd, observe: (event) => events.push(event) })).finished;
  expect(printedIn(events).map(textOf)).toStrictEqual(['a']);
});

test('a <print> is no activity, and the lines around it are', async () => {
  const lines: string[] = [];
  const cwd = newFolder({ 'START.sh': `printf 'a\\n<print>\\nb\\n</print>\\nc <print>d</print> e\\n<result/>'` });
  const run = await runWorkflow('wf', { cwd, watch: ({ doing }) => doing.kind === 'prints' && lines.push(doing.text) });
  await run.finished;
  expect(lines).toStrictEqual(['a', 'c  e', '<result/>']);
});

function leftBehind(files: Readonly<Record<string, string>>) {
  const dir = newFolder();
  for (const [name, text] of Object.entries({ started: '1 0\n0\n', ...files })) writeFileSync(join(dir, name), text);
  const record = { number: 1, prompt: { kind: 'state' }, session: null, startedAt: 0, capMicros: null } as const;
  const turn = newScriptTurn(dir, { record });
  return { dir, turn };
}

test('a turn that is adopted shows what the process before has not shown, and has all of it on record', async () => {
  const stdout = '<print>a</print><print>b</print><result>r</result>';
  const { dir, turn } = leftBehind({ stdout, stderr: '<print>c</print>' });
  const before: string[] = [];
  const first = newTurnContext(dir, { onPrint: ({ text }) => before.push(text) });
  // The process before was killed after the first text.
  new PrintReporter(first, turn, false).add('stdout', ['a']);
  const after: string[] = [];
  const signal = await runScriptTurn(newTurnContext(dir, { onPrint: ({ text }) => after.push(text) }), turn, true);
  expect(before).toStrictEqual(['a']);
  expect(after.toSorted()).toStrictEqual(['b', 'c']);
  expect(signal).toMatchObject({ kind: 'answered', prints: expect.arrayContaining(['a', 'b', 'c']) });
  expect(JSON.parse(readFileSync(join(dir, 'printed.json'), 'utf8'))).toStrictEqual({ stdout: 2, stderr: 1 });
});

test('a record of what was shown that is damaged shows everything', async () => {
  const { dir, turn } = leftBehind({ stdout: '<print>a</print><result>r</result>', stderr: '', 'printed.json': '{' });
  const shown: string[] = [];
  await runScriptTurn(newTurnContext(dir, { onPrint: ({ text }) => shown.push(text) }), turn, true);
  expect(shown).toStrictEqual(['a']);
});

test('a turn shows at most a thousand texts, and says so', async () => {
  const stdout = `${Array.from({ length: 1_100 }, (_, index) => `<print>${index}</print>`).join('')}<result>r</result>`;
  const { dir, turn } = leftBehind({ stdout, stderr: '' });
  const shown: string[] = [];
  const signal = await runScriptTurn(newTurnContext(dir, { onPrint: ({ text }) => shown.push(text) }), turn, true);
  expect(shown).toHaveLength(1_001);
  expect(shown.at(-1)).toMatch(/more than 1000/);
  expect(signal).toMatchObject({ prints: shown });
});

const assistant = (id: string, text: string, more: object = {}): string =>
  JSON.stringify({ type: 'assistant', message: { id, model: 'm', content: [{ type: 'text', text }] }, ...more });

test('the <print>s of Claude are those of its own messages, whose pieces belong together', () => {
  const read = createClaudePrintReader();
  const lines = [
    assistant('m1', '<print>a</print> <pri'),
    assistant('m1', 'nt>b</print> <print>c'),
    assistant('m2', 'd</print> <print>e</print>'),
    assistant('m3', '<print>of a sub-agent</print>', { parent_tool_use_id: 't1' }),
    JSON.stringify({ type: 'result', is_error: false, result: 'd</print> <print>e</print>' }),
    JSON.stringify({ type: 'result', is_error: false, result: '<print>f</print>' }),
  ];
  expect(lines.flatMap((line) => read(parseClaudeLine(line)))).toStrictEqual(['a', 'b', 'e', 'f']);
});
