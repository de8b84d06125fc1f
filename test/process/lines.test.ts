import { appendFileSync, closeSync, openSync, truncateSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endTurn } from '../../src/process/end.ts';
import { followLines, lastLines, lastWriteTimeMs, newLineSplitter, readLines } from '../../src/process/lines.ts';
import { turnFiles } from '../../src/process/turn-files.ts';
import { awake, eventually, shell, start, useTurns } from './turns.ts';

const { folder, newTurn } = useTurns();

/** A file that is being followed, and what has come of it. */
function follow(file: string) {
  let end = (): void => {};
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  const lines: string[] = [];
  const following = followLines(file, (line) => lines.push(line.toString('utf8')), { until });
  const ended = async () => {
    end();
    await following;
    return lines;
  };
  return { lines, ended, following };
}

async function linesOf(file: string): Promise<readonly Buffer[]> {
  const lines: Buffer[] = [];
  for await (const line of readLines(file)) lines.push(line);
  return lines;
}

describe('splitting', () => {
  const bytes = fc
    .uint8Array({ maxLength: 200 })
    .map((each) => Buffer.from(each.map((byte) => (byte < 60 ? 10 : byte))));

  test('gives the same lines wherever the bytes are cut', () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(200)), (whole, cuts) => {
        const splitter = newLineSplitter();
        const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const got = places.slice(1).flatMap((to, index) => splitter.push(whole.subarray(places[index], to)));
        const lines = [...got, ...splitter.rest()].map((line) => line.toString('latin1'));
        const expected = whole.toString('latin1').split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(lines).toStrictEqual(expected);
        expect(splitter.rest()).toStrictEqual([]);
      }),
    );
  });

  test('keeps the beginning of a line that is too long, and nothing of the rest in memory', () => {
    const splitter = newLineSplitter(4);
    const pieces = ['abc', 'defgh', 'i\nab', 'cd', '\nabcdef\nx', 'yz12'].map((text) => Buffer.from(text));
    const lines = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.rest()];
    expect(lines.map(String)).toStrictEqual(['abcd', 'abcd', 'abcd', 'xyz1']);
  });

  test('keeps carriage returns and other Unicode line breaks', () => {
    const lines = newLineSplitter().push(Buffer.from('a\r\nb\u2028c\u0085d\re\n'));
    expect(lines.map(String)).toStrictEqual(['a\r', 'b\u2028c\u0085d\re']);
  });
});

describe('following', () => {
  test('returns lines as they arrive, and the last one without a newline at the end', async () => {
    const file = join(folder(), 'out');
    writeFileSync(file, 'one\ntw');
    const { lines, ended } = follow(file);
    await eventually('one', () => lines.length === 1);
    appendFileSync(file, 'o\nthr');
    await eventually('two', () => lines.length === 2);
    appendFileSync(file, 'ee');
    expect(await ended()).toStrictEqual(['one', 'two', 'three']);
  });

  test('joins characters that were written in pieces', async () => {
    const file = join(folder(), 'out');
    const { lines, ended } = follow(file);
    for (const byte of Buffer.from('ä€😀\n')) {
      const fd = openSync(file, 'a');
      writeSync(fd, Buffer.from([byte]));
      closeSync(fd);
      await new Promise(setImmediate);
    }
    await eventually('the line', () => lines.length === 1);
    expect(await ended()).toStrictEqual(['ä€😀']);
  });

  test('waits for a file that appears late, and for one that never does', async () => {
    const dir = folder();
    const [late, never] = [follow(join(dir, 'late')), follow(join(dir, 'never'))];
    writeFileSync(join(dir, 'late'), 'here\n');
    await eventually('the line', () => late.lines.length === 1);
    expect([await late.ended(), await never.ended()]).toStrictEqual([['here'], []]);
  });

  test('returns what was written before the end, also if it rejects', async () => {
    const file = join(folder(), 'out');
    writeFileSync(file, 'a\nb');
    const lines: string[] = [];
    await followLines(file, (line) => lines.push(`${line}`), { until: Promise.reject(new Error('whatever')) });
    expect(lines).toStrictEqual(['a', 'b']);
  });

  test('restarts when a command truncates the file', async () => {
    const file = join(folder(), 'out');
    writeFileSync(file, 'a long line\nrest');
    const { lines, ended } = follow(file);
    await eventually('the line', () => lines.length === 1);
    truncateSync(file);
    await eventually('the rest', () => lines.length === 2);
    appendFileSync(file, 'new\n');
    await eventually('the new line', () => lines.length === 3);
    expect(await ended()).toStrictEqual(['a long line', 'rest', 'new']);
  });

  test('passes on what the listener throws, and closes the file', async () => {
    const file = join(folder(), 'out');
    writeFileSync(file, 'a\n');
    const fail = (): never => {
      throw new Error('bad line');
    };
    await expect(followLines(file, fail, { until: new Promise(() => {}) })).rejects.toThrow('bad line');
  });

  test('returns all lines of a command, even of 20 MiB', async () => {
    const turn = newTurn();
    const size = 20 * 1024 * 1024;
    const script = `process.stdout.write('first\\n' + 'x'.repeat(${size}) + '\\nlast');`;
    const { exited } = await start(turn, { ...shell(turn, ''), file: process.execPath, args: ['-e', script] });
    const sizes: number[] = [];
    await followLines(turnFiles(turn.dir).stdout, (line) => sizes.push(line.length), { until: exited });
    expect(sizes).toStrictEqual([5, size, 4]);
    expect(await awake(exited)).toStrictEqual({ kind: 'exited', code: 0 });
  });

  test('ends even if another process continues to write', async () => {
    const turn = newTurn();
    const { exited } = await start(turn, shell(turn, 'setsid sh -c "while :; do echo y; done" & exit 0'));
    let count = 0;
    await followLines(turnFiles(turn.dir).stdout, () => count++, { until: exited });
    expect((await endTurn(turn.dir, turn.marker, { graceMs: 20_000 })).left).toBe(0);
  });
});

describe('a finished file', () => {
  test('is read line by line, including empty lines and a last one without newline', async () => {
    const file = join(folder(), 'out');
    writeFileSync(file, 'a\n\nb\r\nä');
    expect((await linesOf(file)).map(String)).toStrictEqual(['a', '', 'b\r', 'ä']);
  });

  test('may have a line of 20 MiB between others', async () => {
    const file = join(folder(), 'out');
    const long = Buffer.alloc(20 * 1024 * 1024, 'ä');
    writeFileSync(file, Buffer.concat([Buffer.from('a\n'), long, Buffer.from('\nb\n')]));
    const [first, second, third, ...more] = await linesOf(file);
    expect([`${first}`, second?.equals(long), `${third}`, more]).toStrictEqual(['a', true, 'b', []]);
  });

  test('may be left in the middle, be empty, or be missing', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'out'), 'a\nb\n');
    writeFileSync(join(dir, 'empty'), '');
    for await (const line of readLines(join(dir, 'out'))) {
      expect(`${line}`).toBe('a');
      break;
    }
    expect([await linesOf(join(dir, 'empty')), await linesOf(join(dir, 'missing'))]).toStrictEqual([[], []]);
  });
});

describe('the end of a file', () => {
  test.each([
    ['all of it if it is short', 'a\nb\n', 5, 100, 'a\nb'],
    ['the last lines', 'a\nb\r\nc\n\n', 2, 100, 'b\nc'],
    ['the last bytes, never half a character', 'xx😀😀\nend\n', 5, 11, '…😀\nend'],
    ['the last mebibyte at most', `${'x'.repeat(1_048_576)}\nend`, 1, 9_999_999, 'end'],
    ['nothing of an empty file', '', 5, 100, ''],
  ])('is %s', async (_what, content, most, maxBytes, expected) => {
    const file = join(folder(), 'err');
    writeFileSync(file, content);
    expect(await lastLines(file, most, maxBytes)).toBe(expected);
  });

  test('is empty for a missing file', async () => {
    expect(await lastLines(join(folder(), 'err'), 5, 100)).toBe('');
  });
});

test('the quiet time counts from the latest change of any file', async () => {
  const dir = folder();
  const files = ['a', 'b', 'missing'].map((name) => join(dir, name));
  for (const [index, file] of files.slice(0, 2).entries()) {
    writeFileSync(file, '');
    utimesSync(file, 1_000 + index, 1_000 + index);
  }
  expect([await lastWriteTimeMs(files), await lastWriteTimeMs(files.slice(2))]).toStrictEqual([1_001_000, 0]);
});
