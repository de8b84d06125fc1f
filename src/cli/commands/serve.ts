import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../app/config/load-config.ts';
import { EXIT, errorMessageOf } from '../../errors.ts';
import { readPackageVersion } from '../../package-files.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import { isLoopback } from '../../server/access.ts';
import { startServer } from '../../server/serve.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { openPage } from '../open-page.ts';
import { findDatabaseAddress, type OpenedStorage, withStorage } from '../open-storage.ts';
import { getCountOption, getRepeatedOption, getTextOption } from '../parsed-options.ts';
import { thisCommand } from '../this-command.ts';

const MAX_PORT = 65_535;

/** `raymond serve`: shows and steers all runs in a browser, until Ctrl-C. No run depends on it. */
export const handleServe: CommandHandler = async (_, options, terminal) => {
  const address = findDatabaseAddress(options, terminal);
  return withStorage(address, terminal, (opened) => serve(options, terminal, opened));
};

async function serve(
  options: ParsedOptions,
  terminal: Terminal,
  { storage, launcher, env, openFolder, isForAllFolders }: OpenedStorage,
): Promise<number> {
  const { cwd, out, err } = terminal;
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
    env,
    openFolder,
    ...(isForAllFolders && { shared: { storage, launcher } }),
    command: thisCommand(),
    version: readPackageVersion(),
    ...(token !== undefined && { token }),
    report: (message) => err(`${message}\n`),
  });
  // Before the address is printed: whoever reads it may send a signal at once.
  const interrupted = new Promise<void>((resolve) => terminal.onInterrupt(resolve));
  out(`${server.address}\n`);
  if (!isLoopback(host))
    err(
      `warning: everybody who can reach ${host}:${server.port} and knows the token can start programs here. The connection is not encrypted.\n`,
    );
  err('Open this address in a browser on this machine. Ctrl-C ends the server; runs continue.\n');
  const forget = options.open === true ? openPage(server.address, env) : () => {};
  await interrupted;
  forget();
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
