import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  askYesOrNo,
  createOutputWriter,
  replaceSymbolsWithAscii,
  supportsUnicode,
} from '../../../src/render/terminal/process-terminal.ts';
import { widthOf } from '../../../src/render/text-width.ts';

describe('an outlet', () => {
  const failing = (code: string): Writable =>
    new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('no'), { code })) });

  test('reports once why something could not be written, and never throws', async () => {
    const outlet = createOutputWriter(failing('ENOSPC'));
    outlet.write('one');
    outlet.write('two');
    await setImmediate();
    expect([outlet.takeWriteError(), outlet.takeWriteError()]).toStrictEqual(['ENOSPC', null]);
  });

  test('tolerates a stream that throws', () => {
    const stream = new Writable();
    stream.write = () => {
      throw Object.assign(new Error('no'), { code: 'EFBIG' });
    };
    const outlet = createOutputWriter(stream);
    outlet.write('one');
    expect(outlet.takeWriteError()).toBe('EFBIG');
  });

  test.each(['EPIPE', 'EIO'])('tolerates a closed pipe: %s', async (code) => {
    const outlet = createOutputWriter(failing(code));
    outlet.write('one');
    await setImmediate();
    expect(outlet.takeWriteError()).toBeNull();
  });
});

test.each<[NodeJS.ProcessEnv, boolean]>([
  [{}, false],
  [{ LANG: 'C' }, false],
  [{ LANG: 'C.UTF-8' }, true],
  [{ LANG: 'de_DE.utf8' }, true],
  [{ LANG: 'de_DE.ISO-8859-1' }, false],
  [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
  [{ LANG: 'C', LC_CTYPE: 'en_US.UTF-8' }, true],
])('the locale %j allows Unicode: %s', (env, knows) => {
  expect(supportsUnicode(env, 'linux')).toBe(knows);
});

test('ASCII symbols are as wide as the symbols that they replace', () => {
  const signs = '── a → b … · — ⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ é';
  expect(replaceSymbolsWithAscii(signs)).toBe('-- a > b ~ . - |/-\\|/-\\|/ é');
  expect(widthOf(replaceSymbolsWithAscii(signs))).toBe(widthOf(signs));
});

const CLI = join(import.meta.dirname, '../../../dist/raymond.js');

describe.skipIf(process.platform === 'win32')('the command', () => {
  let home: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'raymond-terminal-'));
    mkdirSync(join(home, 'wf'));
    writeFileSync(join(home, 'wf', 'START.sh'), 'echo "<result>r</result>"');
  });

  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

  /** What a shell makes of a line, in which `$R` is the command. */
  const sh = (line: string): Promise<{ code: number; out: string; err: string }> =>
    new Promise((done) => {
      const env = { ...process.env, R: `${process.execPath} ${CLI}` };
      execFile('/bin/sh', ['-c', line], { cwd: home, env }, (error, out, err) => {
        done({ code: error === null ? 0 : Number(error.code), out, err });
      });
    });

  describe.skipIf(!existsSync('/dev/full'))('on a full disk', () => {
    test('continues its run, which ends normally; the output that could not be printed is reported at the end', async () => {
      const { code, err } = await sh('$R wf --run-id r1 --events > /dev/full');
      expect(code).toBe(0);
      expect(err).toMatch(/could not be written \(ENOSPC\); `raymond status r1` shows the results\.\n$/);
      expect((await sh('$R status r1')).out).toContain('completed');
      writeFileSync(join(home, 'wf', 'START.sh'), 'exit 3');
      expect((await sh('$R wf --run-id r2 --json > /dev/full')).code).toBe(1);
    });

    test('needs no stderr', async () => {
      expect(await sh('$R wf 2> /dev/full')).toStrictEqual({ code: 0, out: 'r\n', err: '' });
      expect(await sh('$R wf > /dev/full 2>&1')).toStrictEqual({ code: 0, out: '', err: '' });
    });

    test('fails if printing is its only purpose', async () => {
      expect(await sh('$R list > /dev/full')).toStrictEqual({
        code: 64,
        out: '',
        err: 'raymond: the output could not be written (ENOSPC)\n',
      });
    });
  });

  test('reports that its working directory is gone', async () => {
    expect(await sh('mkdir gone && cd gone && rmdir ../gone && $R list')).toStrictEqual({
      code: 64,
      out: '',
      err: 'raymond: the current folder no longer exists\nGo to a folder that exists, then try again.\n',
    });
  });
});

describe('a question', () => {
  test.each([
    ['y\n', true],
    ['Yes \n', true],
    ['n\n', false],
    ['\n', false],
    ['yesterday\n', false],
    ['', false],
    ['y', false],
  ])('that is answered with %j', async (typed, answer) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.end(typed);
    expect(await askYesOrNo('Trust this file?', input, output)).toBe(answer);
    expect(String(output.read())).toContain('Trust this file? [y/N] ');
  });
});
