import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/render/terminal/terminal.ts';
import { checkPrinted } from '../documents/check-documents.ts';

/** The output and exit code of a command. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A temporary folder in which a test runs commands. */
export interface CliProject {
  readonly cwd: string;
  /** Where the user's own settings are, for commands that are given no other environment. */
  readonly configHome: string;
  readonly terminal: (env?: NodeJS.ProcessEnv) => Terminal & { readonly output: () => Omit<CommandResult, 'code'> };
  readonly raymond: (...argv: readonly string[]) => Promise<CommandResult>;
}

/** A process that was started apart may write its last words meanwhile: then what it wrote is removed, too. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Creates an empty project; it is removed after the test. */
export function newCliProject(): CliProject {
  const [cwd, configHome] = ['raymond-cli-', 'raymond-home-'].map((name) => mkdtempSync(join(tmpdir(), name)));
  if (cwd === undefined || configHome === undefined) throw new Error('no folder');
  onTestFinished(() => {
    for (const folder of [cwd, configHome]) removeFolder(folder);
  });
  const terminal: CliProject['terminal'] = (
    env = { ...process.env, RAYMOND_REPLAY: 'fast', XDG_CONFIG_HOME: configHome },
  ) => {
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
    configHome,
    terminal,
    async raymond(...argv) {
      const mine = terminal();
      const code = await runCli(argv, mine);
      const output = mine.output();
      checkPrinted(argv, output.out);
      return { code, ...output };
    },
  };
}
