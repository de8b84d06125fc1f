import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT, errorMessageOf } from '../../errors.ts';
import { readPackageVersion } from '../../package-files.ts';
import { loadConfig } from '../../runtime/load-config.ts';
import { isLoopback } from '../../server/access.ts';
import { type ServeRequest, startServer } from '../../server/serve.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, withDatabase, withRunPlace } from '../database-option.ts';
import { getCountOption, getRepeatedOption, getTextOption } from '../parsed-options.ts';
import { thisCommand } from '../this-command.ts';

const MAX_PORT = 65_535;

/** `raymond serve`: shows and steers all runs in a browser, until Ctrl-C. No run depends on it. */
export const handleServe: CommandHandler = async (_, options, terminal) => {
  const address = findDatabaseAddress(options, terminal);
  return withRunPlace(address, terminal, (place) =>
    serve(options, terminal, withDatabase(terminal.env, address, place)),
  );
};

async function serve(
  options: ParsedOptions,
  terminal: Terminal,
  served: Pick<ServeRequest, 'env' | 'database'>,
): Promise<number> {
  const { cwd, env, out, err } = terminal;
  const host = getTextOption(options, 'host') ?? '127.0.0.1';
  const port = getCountOption(options, 'port') ?? 0;
  if (port > MAX_PORT) throw usageError(`--port must be at most ${MAX_PORT}, not ${port}`);
  const token = readToken(options, cwd, host);
  const roots = getRepeatedOption(options, 'root').map((root) => resolveRoot(root, cwd));
  const server = await startServer({
    host,
    port,
    roots: roots.length > 0 ? roots : (loadConfig(cwd, env).view.serveRoots ?? []),
    cwd,
    ...served,
    command: thisCommand(),
    version: readPackageVersion(),
    ...(token !== undefined && { token }),
    report: (message) => err(`${message}\n`),
  });
  out(`${server.address}\n`);
  if (!isLoopback(host))
    err(
      `warning: everybody who can reach ${host}:${server.port} and knows the token can start programs here. The connection is not encrypted.\n`,
    );
  err('Open this address in a browser on this machine. Ctrl-C ends the server; runs go on.\n');
  if (options.open === true) openBrowser(server.address);
  await new Promise<void>((resolve) => {
    terminal.onInterrupt(resolve);
    process.once('SIGTERM', resolve);
  });
  await server.close();
  return EXIT.completed;
}

/** The token of the user's own. Somebody who lets others in has to choose it: a random one would be lost with the terminal. */
function readToken(options: ParsedOptions, cwd: string, host: string): string | undefined {
  const file = getTextOption(options, 'tokenFile');
  if (file === undefined) {
    if (isLoopback(host)) return undefined;
    throw usageError(
      `--host ${host} lets other machines in, so it needs --token-file`,
      'Write a long random text into a file that only you can read, and name it.',
    );
  }
  let token: string;
  try {
    token = readFileSync(resolve(cwd, file), 'utf8').trim();
  } catch (error) {
    throw usageError(`--token-file ${file} cannot be read: ${errorMessageOf(error)}`);
  }
  if (/^[\w.~-]{16,}$/.test(token)) return token;
  throw usageError(
    `--token-file ${file} must hold at least 16 letters, digits or any of . _ ~ -`,
    'For example: openssl rand -hex 24',
  );
}

function resolveRoot(root: string, cwd: string): string {
  const path = resolve(cwd, root);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw usageError(`--root ${root} is not a folder`);
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens the address in the user's browser. If there is none, the address is on the screen all the same. */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
