import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/terminal/terminal.ts';

/** What a command said, and how it ended. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder of its own to give commands in, which is gone when the test has finished. */
export interface Room {
  readonly cwd: string;
  readonly terminal: (env?: NodeJS.ProcessEnv) => Terminal & { readonly said: () => Omit<Said, 'code'> };
  readonly raymond: (...argv: readonly string[]) => Promise<Said>;
}

export function newRoom(): Room {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-room-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const terminal: Room['terminal'] = (env = { ...process.env, RAYMOND_REPLAY: 'fast' }) => {
    let [out, err] = ['', ''];
    return {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      said: () => ({ out, err }),
      cwd,
      env,
      screen: null,
      onInterrupt: () => () => {},
    };
  };
  return {
    cwd,
    terminal,
    async raymond(...argv) {
      const mine = terminal();
      const code = await runCli(argv, mine);
      return { code, ...mine.said() };
    },
  };
}
