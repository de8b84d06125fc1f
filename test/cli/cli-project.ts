import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/terminal/terminal.ts';

/** The output and exit code of a command. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A temporary folder in which a test runs commands. */
export interface CliProject {
  readonly cwd: string;
  readonly terminal: (env?: NodeJS.ProcessEnv) => Terminal & { readonly output: () => Omit<CommandResult, 'code'> };
  readonly raymond: (...argv: readonly string[]) => Promise<CommandResult>;
}

/** Creates an empty project; it is removed after the test. */
export function newCliProject(): CliProject {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-cli-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const terminal: CliProject['terminal'] = (env = { ...process.env, RAYMOND_REPLAY: 'fast' }) => {
    let [out, err] = ['', ''];
    return {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      output: () => ({ out, err }),
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
      return { code, ...mine.output() };
    },
  };
}
