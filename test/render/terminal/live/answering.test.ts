import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../../../src/core/run/event.ts';
import { createAnswerLine, editLine, renderAnswerLine } from '../../../../src/render/terminal/live/answer-line.ts';
import { createLiveReporter } from '../../../../src/render/terminal/live/live-reporter.ts';
import { widthOf } from '../../../../src/render/text-width.ts';
import { RunDriver } from '../../../core/run-driver.ts';
import { FakeClock, FakeTerminal } from './fake-terminal.ts';

const FILES = { files: ['START.md', 'ASK.md', 'NEXT.md', 'LATE.md'] };

/** A live view of a run that asks these questions, one by each worker, and what was answered. */
function ask(questions: readonly string[], { columns = 80, rows = 24, attributes = '' } = {}) {
  const terminal = new FakeTerminal(columns, rows);
  const clock = new FakeClock();
  const reporter = createLiveReporter(terminal, false, clock);
  const answers: [string, string][] = [];
  const run = { answer: async (): Promise<boolean> => true };
  const said: (string | null)[][] = [];
  reporter.takeWords?.({
    answer: (id, text) => {
      answers.push([id, text]);
      return run.answer();
    },
    say: async (agent, text) => said.push(['say', agent, text]),
    interrupt: async (agent, text) => said.push(['interrupt', agent, text]),
  });
  let told = 0;
  const driver = new RunDriver(FILES);
  const tell = (): void => {
    for (const event of driver.events.slice(told)) reporter.observe(event as Event);
    told = driver.events.length;
    clock.advance(100);
  };
  driver.answer({ text: `${questions.map(() => '<fork next="START">ASK</fork>').join('')}` });
  questions.forEach((text, at) => {
    driver.begin(`main_ask${at + 1}`);
    driver.reply(`main_ask${at + 1}`, `<ask next="NEXT" ${attributes}>${text}</ask>`);
  });
  tell();
  const press = (...keys: readonly string[]): readonly boolean[] =>
    keys.map((key) => terminal.onKeyPressed?.(key, key.length === 1 ? key : key === 'space' ? ' ' : '') ?? false);
  const type = (text: string): unknown => press(...[...text].map((letter) => (letter === ' ' ? 'space' : letter)));
  /** The block at the bottom. */
  const block = (): string => terminal.text.slice(terminal.text.lastIndexOf('── run-1'));
  return { terminal, clock, reporter, run, driver, tell, press, type, block, answers, said };
}

describe('a question with choices in the live view', () => {
  test('is answered by a digit', async () => {
    const { press, block, answers, reporter } = ask(['Merge it?'], { attributes: 'choices="Merge|Discard"' });
    press('a');
    expect(block()).toContain('Merge it?\n1 Merge\n2 Discard\n> |\nnumber: choose · Enter: send');
    press('3', 'backspace', '2');
    await setImmediate();
    expect(answers).toStrictEqual([['main_ask1-1', '2']]);
    reporter.close();
  });

  test('that takes other texts, or several, is answered with Enter', async () => {
    const { press, type, block, answers, reporter } = ask(['Which?'], {
      attributes: 'choices="A|B" choices_many="true" choices_other="true"',
    });
    press('a');
    expect(block()).toContain('1 A\n2 B\n(several may be chosen)\n(or any text)\n> |');
    type('1 2');
    press('return');
    await setImmediate();
    expect(answers).toStrictEqual([['main_ask1-1', '1 2']]);
    reporter.close();
  });
});

describe('a question in the live view', () => {
  test('is shown with its agent, and a key opens a line for the answer', async () => {
    const { press, type, block, answers, reporter } = ask(['Publish it today?']);
    expect(block()).toContain('? main_ask1  ASK.md    asks: Publish it today?');
    expect(block()).toContain('1 question waits for you: press a to answer');
    press('a');
    expect(block()).toContain('? main_ask1 ASK.md asks:\nPublish it today?\n> |\nEnter: send');
    type('Yes, wörld');
    press('home', 'delete', 'y', 'end', 'backspace', 'd');
    expect(block()).toContain('> yes, wörld|\n');
    press('return');
    await setImmediate();
    expect(answers).toStrictEqual([['main_ask1-1', 'yes, wörld']]);
    reporter.close();
  });

  test('is chosen by number or arrow if there are several', async () => {
    const { press, type, block, answers, reporter } = ask(['One?', 'Two?', 'Three?']);
    press('return');
    expect(block()).toContain('3 questions:\n> 1 main_ask1: One?\n  2 main_ask2: Two?\n  3 main_ask3: Three?\nnumber');
    press('down', 'return');
    expect(block()).toContain('asks:\nTwo?\n');
    type('b');
    press('escape', 'a', '3');
    type('c');
    press('return');
    await setImmediate();
    press('a', '2', 'return');
    await setImmediate();
    expect(answers).toStrictEqual([
      ['main_ask3-1', 'c'],
      ['main_ask2-1', 'b'],
    ]);
    reporter.close();
  });

  test('that ends while somebody types is left, and what was typed is shown once more', () => {
    const { press, type, terminal, block, driver, tell, reporter } = ask(['One?'], {
      attributes: 'timeout="10m" timeout_next="LATE"',
    });
    expect(terminal.text).toMatch(/without an answer it continues in LATE.md at/);
    press('a');
    type('almost');
    driver.apply({ kind: 'ask_timed_out', at: 9000, agent: 'main_ask1', ask: 'main_ask1-1' });
    tell();
    expect(terminal.text).toContain('main_ask1-1 has ended; what you typed was not sent: almost');
    expect(block()).not.toContain('> almost');
    reporter.close();
  });

  test('whose answer comes too late, or cannot be kept, is told so, and the text stays', async () => {
    const { press, type, clock, run, block, reporter } = ask(['One?']);
    run.answer = async () => false;
    press('a', 'return');
    expect(block()).toContain('Type an answer first.');
    type('x');
    press('return');
    await setImmediate();
    clock.advance(100);
    expect(block()).toContain('> x|\nIt was not sent: the question has just ended.');
    run.answer = () => Promise.reject(new Error('the disk is full'));
    press('return');
    await setImmediate();
    clock.advance(100);
    expect(block()).toContain('> x|\nIt was not sent: the disk is full');
    reporter.close();
  });

  test('takes Ctrl-C as a wish to leave the line, and only then as one to stop the run', () => {
    const { press, type, block, reporter } = ask(['One?']);
    press('a');
    type('draft');
    expect(press('ctrl-c')).toStrictEqual([true]);
    expect(block()).toContain('press a to answer');
    expect(press('ctrl-c')).toStrictEqual([false]);
    press('a');
    expect(block()).toContain('> draft|');
    reporter.close();
  });

  test('keeps line breaks that are pasted or typed with Ctrl-J', async () => {
    const { terminal, press, type, answers, reporter } = ask(['One?']);
    press('a');
    expect(terminal.writes.join('')).toContain('\u001b[?2004h');
    press('paste-start');
    type('one');
    press('return');
    type('two');
    press('paste-end', 'enter');
    type('three');
    press('return');
    await setImmediate();
    expect(answers).toStrictEqual([['main_ask1-1', 'one\ntwo\nthree']]);
    reporter.close();
    expect(terminal.writes.join('').lastIndexOf('\u001b[?2004l')).toBeGreaterThan(0);
  });

  test('is answered in an editor, meanwhile nothing is painted', async () => {
    const terminal = new FakeTerminal();
    let close: (text: string) => void = () => {};
    const edit = (text: string, below: string): Promise<string> =>
      new Promise((done) => {
        close = (more) => done(`${text}${more} ${below}`);
      });
    const clock = new FakeClock();
    const reporter = createLiveReporter({ ...terminal, write: terminal.write, edit }, false, clock);
    reporter.takeWords?.({ answer: async () => true, say: async () => {}, interrupt: async () => {} });
    const driver = new RunDriver(FILES).answer({ text: '<fork next="START">ASK</fork>' });
    driver.begin('main_ask1');
    driver.reply('main_ask1', '<ask next="NEXT">One?</ask>');
    for (const event of driver.events) reporter.observe(event);
    clock.advance(100);
    const press = (key: string): unknown => terminal.onKeyPressed?.(key, key);
    press('a');
    press('x');
    press('ctrl-g');
    const written = terminal.writes.length;
    clock.advance(5000);
    reporter.warn('a line');
    expect(terminal.writes.length).toBe(written);
    close('y');
    await reporter.whenFree?.();
    await setImmediate();
    clock.advance(1000);
    expect(terminal.text).toContain('a line\n── run-1');
    expect(terminal.text).toContain('> xy One?|');
    reporter.close();
  });

  test.each([
    [80, 24],
    [40, 20],
    [20, 8],
  ])('fits on %i × %i, whatever it contains', (columns, rows) => {
    const hostile = `\u001b[2J\u001b]0;title\u0007${'x'.repeat(100_000)}\r\n\u202e${'汉字 '.repeat(30_000)}\n${'line\n'.repeat(2000)}`;
    const { terminal, press, type, reporter } = ask([hostile, 'Two?'], { columns, rows });
    press('a', '1', 'pagedown', 'pagedown', 'down', 'up');
    type('the answer '.repeat(15));
    type('ends');
    const frame = terminal.writes.at(-1)?.split('\u001b[K\r\n') ?? [];
    expect(frame.length).toBeLessThanOrEqual(rows - 2);
    expect(Math.max(...frame.slice(1, -1).map(widthOf))).toBeLessThan(columns);
    expect(terminal.text).toContain('ends|');
    reporter.close();
  });
});

test('without keys nobody can answer in place', () => {
  const { onKey: _, ...deaf } = new FakeTerminal();
  expect(createLiveReporter(deaf, false, new FakeClock()).takeWords).toBeUndefined();
});

const KEYS = ['left', 'right', 'home', 'end', 'backspace', 'delete', 'ctrl-u', 'ctrl-k', 'ctrl-w', 'enter', 'f13'];

test('a line that is typed keeps its cursor within the text, and its rows fit', () => {
  const press = fc.oneof(fc.constantFrom(...KEYS), fc.string({ unit: 'grapheme', maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(press, { maxLength: 40 }), fc.integer({ min: 3, max: 20 }), (presses, columns) => {
      let line = createAnswerLine('Zoë 👩‍👩‍👧 x');
      for (const key of presses) line = editLine(line, key, KEYS.includes(key) ? '' : key);
      expect(line.cursor).toBeGreaterThanOrEqual(0);
      expect(line.cursor).toBeLessThanOrEqual(line.text.length);
      const rows = renderAnswerLine(line, { columns, rows: 4 }, (character) => `|${character}`);
      expect(rows.length).toBeLessThanOrEqual(4);
      expect(rows.join('').split('|').length).toBeGreaterThan(1);
      for (const row of rows) expect(widthOf(row)).toBeLessThanOrEqual(columns + 1 + row.split('|').length);
    }),
  );
});

describe('a word to an agent in the live view', () => {
  test('is typed after a key, to the agent that is chosen', async () => {
    const { press, type, block, said, driver, tell, reporter } = ask(['One?', 'Two?']);
    driver.begin('main');
    tell();
    press('s');
    expect(block()).toContain(
      'Say something to:\n> 1 main: START.md\n  2 main_ask1: ASK.md\n  3 main_ask2: ASK.md\nnumber',
    );
    press('1');
    expect(block()).toContain('Say to main START.md:\n> |\nEnter: say it');
    press('return');
    expect(block()).toContain('Type what is to be said first.');
    type('hello');
    press('escape', 's', '2');
    type('other');
    press('escape', 's', '1', 'return');
    await setImmediate();
    expect(said).toStrictEqual([['say', 'main', 'hello']]);
    tell();
    expect(block()).not.toContain('Say to');
    reporter.close();
  });

  test('interrupts an agent that works on a prompt, with a text or without', async () => {
    const { press, type, block, said, driver, tell, reporter, terminal } = ask(['One?'], { columns: 40, rows: 20 });
    expect(press('i')).toStrictEqual([false]);
    driver.begin('main');
    tell();
    press('i');
    expect(block()).toContain('Interrupt main START.md:\n> |\nEnter: interrupt');
    press('return');
    await setImmediate();
    press('i');
    type('start over');
    press('return');
    await setImmediate();
    expect(said).toStrictEqual([
      ['interrupt', 'main', null],
      ['interrupt', 'main', 'start over'],
    ]);
    press('i');
    type('too late');
    driver.reply('main', '<result>x</result>');
    tell();
    expect(terminal.text.replace(/\s+/g, ' ')).toContain(
      'main is at no turn any more; what you typed was not sent: too late',
    );
    reporter.close();
  });
});
