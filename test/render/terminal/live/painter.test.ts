import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LiveBlock, Painter } from '../../../../src/render/terminal/live/painter.ts';
import { FakeClock, FakeTerminal } from './fake-terminal.ts';

function setUp(columns = 40, rows = 10) {
  const terminal = new FakeTerminal(columns, rows);
  const clock = new FakeClock();
  let diagram: LiveBlock = { lines: [], title: '' };
  const painter = new Painter(terminal, clock, () => diagram);
  const show = (lines: readonly string[], title = 't'): void => {
    diagram = { lines, title };
    painter.scheduleRepaint();
    clock.advance(100);
  };
  return { terminal, clock, painter, show };
}

describe('the block', () => {
  test('is painted over the previous one, and finished lines stay above it', () => {
    const { terminal, painter, show } = setUp();
    show(['one', 'two', 'three']);
    expect(terminal.text).toBe('one\ntwo\nthree');
    painter.print('happened');
    show(['only']);
    expect(terminal.text).toBe('happened\nonly');
    show(['longer', 'again']);
    expect(terminal.text).toBe('happened\nlonger\nagain');
  });

  test('is one write per frame, and none if nothing has changed', () => {
    const { terminal, clock, painter, show } = setUp();
    for (let i = 0; i < 50; i++) painter.print(`${i}`);
    show(['a', 'b']);
    expect(terminal.writes).toHaveLength(1);
    clock.advance(10_000);
    expect(terminal.writes).toHaveLength(1);
  });

  test('is painted again every second', () => {
    const terminal = new FakeTerminal();
    const clock = new FakeClock();
    const painter = new Painter(terminal, clock, (now) => ({ lines: [`${now}`], title: '' }));
    clock.advance(1000);
    expect(terminal.text).toBe('1000');
    clock.advance(2500);
    expect(terminal.text).toBe('3000');
    painter.close();
  });

  test('survives a narrower window that wrapped its lines, and a wider one', () => {
    const { terminal, painter, show } = setUp(40);
    painter.print('happened');
    show(['x'.repeat(39), 'y'.repeat(25), 'z']);
    terminal.resize(20);
    expect(terminal.text).toBe(
      `happened\n${'x'.repeat(20)}\n${'x'.repeat(19)}\n${'y'.repeat(20)}\n${'y'.repeat(5)}\nz`,
    );
    show(['short', 'z']);
    expect(terminal.text).toBe('happened\nshort\nz');
    terminal.resize(60);
    show(['wide', 'z']);
    expect(terminal.text).toBe('happened\nwide\nz');
  });

  test.each([
    ['in the middle of the screen', 0],
    ['at its end', 8],
  ])('recovers %s from what the user types', (_, lines) => {
    const { terminal, painter, show } = setUp();
    for (let i = 0; i < lines; i++) painter.print(`${i}`);
    show(['one', 'two']);
    const before = terminal.text;
    terminal.write('abc\r\n');
    show(['one', '2']);
    expect(terminal.text).toBe(before.replace('two', '2'));
    terminal.write('\r\nabc');
    painter.print('happened');
    show(['one', 'two']);
    expect(terminal.text).toBe(before.replace('one', 'happened\none'));
    terminal.write('abc\r\n');
    painter.close();
    expect(terminal.text).toBe(before.replace('one\ntwo', 'happened'));
  });

  test('leaves two free rows below it, and the cursor where the next program may write', () => {
    const terminal = new FakeTerminal(40, 10);
    const clock = new FakeClock();
    const painter = new Painter(terminal, clock, (_, { rows }) => ({
      lines: Array.from({ length: rows }, (_line, row) => `${row}`),
      title: '',
    }));
    clock.advance(1000);
    terminal.write('$ ');
    expect(terminal.text).toBe('0\n1\n2\n3\n4\n5\n6\n7\n$');
    painter.close();
  });

  test('keeps every finished line in the scrollback', () => {
    const line = fc.string({ unit: fc.constantFrom('a', '日', 'é', ' x'), minLength: 1, maxLength: 30 });
    const frame = fc.record({
      finished: fc.array(line, { maxLength: 4 }),
      block: fc.array(line, { minLength: 1, maxLength: 8 }),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), (frames) => {
        const { terminal, painter, show } = setUp(70, 10);
        const finished: string[] = [];
        for (const { finished: more, block } of frames) {
          for (const each of more) painter.print(each);
          finished.push(...more);
          show(block);
          expect(terminal.text).toBe([...finished, ...block].map((each) => each.trimEnd()).join('\n'));
        }
        painter.close();
        expect(terminal.text).toBe(finished.map((each) => each.trimEnd()).join('\n'));
      }),
      { numRuns: 100 },
    );
  });
});

describe('the terminal', () => {
  test('is not changed before there is something to show', () => {
    const { terminal, clock, painter } = setUp();
    clock.advance(5000);
    painter.close();
    expect(terminal.writes).toStrictEqual([]);
  });

  test('is restored: title, timers', () => {
    const { terminal, clock, painter, show } = setUp();
    show(['block'], 'raymond: coding');
    expect(terminal).toMatchObject({ title: 'raymond: coding', isWatched: true });
    painter.print('last');
    painter.close();
    painter.close();
    expect(terminal).toMatchObject({ title: 'shell', text: 'last', isWatched: false });
    expect(terminal.leave).toBeUndefined();
    expect(clock.isIdle).toBe(true);
    const { length } = terminal.writes;
    painter.print('too late');
    clock.advance(5000);
    expect(terminal.writes).toHaveLength(length);
  });

  test('gets its title back when the process exits suddenly, and finished lines are printed', () => {
    const { terminal, painter, show } = setUp();
    show(['block', 'foot'], 'raymond: coding');
    painter.print('last words');
    terminal.leave?.();
    expect(terminal).toMatchObject({ title: 'shell', text: 'block\nfoot\nlast words' });
  });

  test('is used again after a suspension, below what was written meanwhile', () => {
    const { terminal, show } = setUp();
    show(['block', 'foot'], 'raymond: coding');
    terminal.leave?.();
    terminal.write('[1]+ Stopped\r\n$ fg\r\n');
    terminal.back?.();
    expect(terminal).toMatchObject({ title: 'raymond: coding' });
    expect(terminal.text).toBe('block\nfoot\n[1]+ Stopped\n$ fg\nblock\nfoot');
  });
});
