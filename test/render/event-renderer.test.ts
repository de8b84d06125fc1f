import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS, type Options } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import { AgentLabels } from '../../src/render/agent-labels.ts';
import { EventRenderer } from '../../src/render/event-renderer.ts';
import { formatLocalTime } from '../../src/render/format.ts';
import { LogWriter } from '../../src/render/log-writer.ts';
import { formatChangedFlags } from '../../src/render/option-flags.ts';
import { createColorizer } from '../../src/render/text-style.ts';
import { type LogEntry, TurnRenderer } from '../../src/render/turn-renderer.ts';
import { type Reply, RunDriver, usd } from '../core/run-driver.ts';

/** The story of these events, without what turns left behind. */
function render(events: readonly Event[], page: Partial<LogWriter> = {}, files = true): readonly string[] {
  const lines: string[] = [];
  const labels = new AgentLabels();
  const paper = Object.assign(new LogWriter(createColorizer(false), (line) => lines.push(line), labels), page);
  const story = new EventRenderer(labels);
  for (const event of events) {
    labels.observe(event);
    if (event.kind === 'turn_started') paper.writeLine(story.renderHeading(event));
    if (event.kind === 'turn_started' && !files)
      for (const line of story.renderMissingFiles(event.agent)) paper.writeLine(line);
    if (event.kind !== 'turn_started') for (const line of story.render(event)) paper.writeLine(line);
  }
  return lines;
}

const [DAY, TIME] = formatLocalTime(1000).split(' ');
const FORK: Reply = { text: '<fork next="W" kind="md" size="9">W</fork>', cost: usd(0.5) };

test('a run is printed in blocks, one for each turn, with its costs and times', () => {
  const driver = new RunDriver({ files: ['START.md', 'W.sh', 'B.md'] }, { budgetMicros: 5_000_000 }, 'the\ninput');
  driver.answer(FORK, '<call return="B" input="7">B</call>').runTurn('main_w1', '<result>w</result>');
  driver.answer({ text: '<result>x</result>', cost: usd(0.25) }, { text: 'no tag', cost: usd(0.1) });
  driver.answer({ text: '<result>end</result>', cost: usd(0.2) });
  expect(render(driver.events)).toStrictEqual([
    `── ${DAY} ${TIME} run run-1: /w/book`,
    '  options: --budget 5',
    '  input: the input',
    '',
    `── ${TIME} [main] START.md, turn 1, new session s1`,
    '  START.md → W.sh (fork) $0.50, 0.0s',
    '[main_w1 kind=md] forked by main, starts in W.sh (size=9)',
    '',
    `── ${TIME} [main] W.sh, turn 2`,
    '  W.sh → B.md (call) $0.00, 0.0s',
    '  input: 7',
    '',
    `── ${TIME} [main_w1 kind=md] W.sh, turn 1`,
    '  W.sh → end (result) $0.00, 0.0s',
    '',
    `── ${TIME} [main] B.md, turn 3, session s2, forked from s1`,
    '  B.md → B.md (result) $0.25, 0.0s',
    '',
    `── ${TIME} [main] B.md, turn 4, session s1`,
    '  took 0.0s, $0.10',
    '  B.md: reminder 1 of 1: it contains no tag',
    '',
    `── ${TIME} [main] B.md, turn 5 (reminder), session s1`,
    '  B.md → end (result) $0.30, 0.0s',
    '',
    `── ${TIME} the run has ended: completed, $1.05`,
  ]);
});

test('parallel agents have their name on every line', () => {
  const driver = new RunDriver({ files: ['START.md', 'W.sh'] });
  driver.answer(FORK, '<result>m</result>').runTurn('main_w1', '<result>w</result>');
  expect(render(driver.events, { isInterleaved: true }).slice(1, 6)).toStrictEqual([
    `── ${TIME} [main] START.md, turn 1, new session s1`,
    '[main] START.md → W.sh (fork) $0.50, 0.0s',
    '[main_w1 kind=md] forked by main, starts in W.sh (size=9)',
    `── ${TIME} [main] W.sh, turn 2`,
    '[main] W.sh → end (result) $0.00, 0.0s',
  ]);
});

test.each([
  [true, '  its files are gone: prompts, answers and output cannot be shown'],
  [false, '  with --no-debug no files of turns are kept: prompts, answers and output cannot be shown'],
])('missing files of turns are reported once, and results are printed (debug: %s)', (debug, why) => {
  const driver = new RunDriver({ files: ['START.sh', 'B.sh', 'C.sh'] }, { debug });
  driver.answer('<call return="C">B</call>', '<result>from B</result>', '<result>all\nof it</result>');
  expect(render(driver.events, {}, false).filter((line) => !/^$|──|options/.test(line))).toStrictEqual([
    why,
    '  START.sh → B.sh (call) $0.00, 0.0s',
    '  B.sh → C.sh (result) $0.00, 0.0s',
    '  input: from B',
    '  C.sh → end (result) $0.00, 0.0s',
    '  result: all',
    '    of it',
  ]);
});

test('a failed turn is printed with its consequence', () => {
  const driver = new RunDriver({ files: ['START.md'] });
  driver.answer({ fail: { kind: 'model', message: 'There is no such model.' }, cost: usd(0.01) });
  expect(render(driver.events).slice(3)).toStrictEqual([
    '  failed (model) after 0.0s, $0.01',
    '  paused: There is no such model.',
    '',
    `── ${TIME} the run has ended: paused, $0.01`,
  ]);
});

test('a resume prints the changed options', () => {
  const resumed = (options: Partial<Options>): Event => ({
    kind: 'run_resumed',
    at: 1000,
    options: { ...DEFAULT_OPTIONS, ...options },
  });
  const { events } = new RunDriver({ files: ['START.md'] }, { model: 'opus' });
  const lines = render([...events, resumed({ model: 'opus', budgetMicros: null }), resumed({ model: 'haiku' })]);
  expect(lines.filter((line) => line.includes('options'))).toStrictEqual([
    '  options: --model opus',
    '  options: --budget 0',
    '  options: --budget 10 --model haiku',
  ]);
});

test.each<[Partial<Options>, readonly string[]]>([
  [{}, []],
  [{ wait: false, debug: false, skipPermissions: true }, ['--no-wait', '--dangerously-skip-permissions', '--no-debug']],
  [{ parallel: null, retries: 0, timeoutMs: 90_000 }, ['--timeout 90', '--parallel 0', '--retries 0']],
  [{ variables: { a: 'x y', b: '1' }, claude: '/a b' }, ["--claude '/a b'", "--var 'a=x y'", '--var b=1']],
  [{ agent: 'replay:/x.yaml', effort: 'high' }, ['--effort high', '--agent replay:/x.yaml']],
])('the options %j are printed as flags', (options, flags) => {
  expect(formatChangedFlags(DEFAULT_OPTIONS, { ...DEFAULT_OPTIONS, ...options })).toStrictEqual(flags);
});

describe('the output of a turn', () => {
  const tell = (...passages: readonly LogEntry[]): readonly string[] => {
    const tale = new TurnRenderer();
    return passages
      .flatMap((passage) => tale.render(passage))
      .map(({ indent, text }) => `${'  '.repeat(indent)}${text}`);
  };
  const uses = (id: string, detail: string, below = false): LogEntry => ({
    kind: 'uses',
    id,
    tool: 'Bash',
    detail,
    below,
  });
  const gets = (id: string, text: string, isError = false, below = false): LogEntry => ({
    kind: 'gets',
    id,
    text,
    isError,
    below,
  });

  test('consists of prompt, text, tools and their results', () => {
    expect(
      tell(
        { kind: 'asked', text: 'Do it.' },
        { kind: 'asked', text: 'Stop.' },
        { kind: 'left_out', lines: 35, file: 'runs/stdin' },
        { kind: 'says', text: '\n  I do it.\n\nNow.\n', below: false },
        uses('1', 'ls'),
        gets('1', 'a\nb\nc\nd\n'),
        uses('2', 'npm i'),
        gets('2', 'not permitted', true),
        { kind: 'retries', attempt: 2, limit: 10, delayMs: 1_020, reason: '529 overloaded' },
      ),
    ).toStrictEqual([
      '  prompt',
      '    Do it.',
      '    Stop.',
      '    … 35 more lines in runs/stdin',
      '  |   I do it.',
      '  |',
      '  | Now.',
      '  > Bash ls',
      '      a',
      '      b',
      '      c',
      '      …',
      '  > Bash npm i',
      '      ! not permitted',
      '  ! retrying in 2 s (2 of 10): 529 overloaded',
    ]);
  });

  test('names the tool of a result unless it is directly above, and whether a sub-agent used it', () => {
    expect(
      tell(
        uses('1', 'a'),
        uses('2', 'b'),
        gets('1', 'A'),
        gets('2', ''),
        uses('3', 'c', true),
        gets('3', 'C', false, true),
      ),
    ).toStrictEqual(['  > Bash a', '  > Bash b', '    Bash a:', '      A', '    > Bash c', '        C']);
  });

  test('is what a script printed, by stream, and where the rest is', () => {
    expect(
      tell(
        { kind: 'prints', text: 'one' },
        { kind: 'prints', text: '' },
        { kind: 'left_out', lines: 1, file: 'stdout' },
        { kind: 'prints', text: 'odd', isError: true },
      ),
    ).toStrictEqual(['  | one', '  |', '  … 1 more line in stdout', '  ! odd']);
  });

  test.each<[string, LogEntry, readonly string[]]>([
    ['colors', { kind: 'prints', text: '\u001b[31mred\u001b[0m\u0007 \u009b1mx' }, ['  | red x']],
    ['a title', { kind: 'prints', text: '\u001b]0;evil\u0007ok' }, ['  | ok']],
    ['progress', { kind: 'prints', text: '10%\r20%\r30%\r' }, ['  | 30%']],
    ['a turned direction', { kind: 'says', text: 'a\u202eb', below: false }, ['  | ab']],
    ['a torn tool', uses('1', 'rm\u001b[2J\nx'), ['  > Bash rm x']],
    ['a clear screen in a result', gets('1', '\u001b[2J\u001b[Hgone', true), ['      ! gone']],
    ['an odd line of a prompt', { kind: 'asked', text: 'a\u0008b\r' }, ['  prompt', '    ab']],
  ])('cannot control a terminal: %s', (_, passage, lines) => {
    expect(tell(passage)).toStrictEqual(lines);
  });

  test('is shortened if it is very long', () => {
    expect(tell({ kind: 'prints', text: `${'x'.repeat(1_999)}😀${'y'.repeat(98)}` })).toStrictEqual([
      `  | ${'x'.repeat(1_999)}… (100 more characters)`,
    ]);
    expect(tell(gets('1', `${'x'.repeat(5_000_000)}`))).toStrictEqual([
      expect.stringMatching(/^ {6}x{200}… \(\d+ more characters\)$/),
    ]);
  });
});
