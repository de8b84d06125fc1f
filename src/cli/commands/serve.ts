import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadConfig } from '../../app/config/load-config.ts';
import { EXIT, errorMessageOf } from '../../errors.ts';
import { readPackageVersion } from '../../package-files.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import { isLoopback } from '../../server/access.ts';
import { startServer } from '../../server/serve.ts';
import { type CommandHandler, type ParsedOptions, thisCommand, usageError } from '../command.ts';
import { findDatabaseAddress, type OpenedStorage, withStorage } from '../open-storage.ts';
import { getCountOption, getRepeatedOption, getTextOption } from '../parsed-options.ts';

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
  // Before the address is printed: its reader may send a signal at once.
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

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** A browser that has not read the file by then never will. */
const KEPT_FOR_MS = 60_000;

/**
 * Opens an address in the user's browser; returns how to clean up. Everybody on the machine can read command lines, and the address lets in who
 * knows it: so the browser gets the name of a file that only this user can read, and that leads there. If no browser opens, the address is on
 * the screen anyway.
 */
export function openPage(address: string, env: NodeJS.ProcessEnv): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-open-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const file = join(folder, 'raymond.html');
  writeFileSync(file, redirectTo(address), { mode: 0o600, flag: 'wx' });
  const timer = setTimeout(remove, KEPT_FOR_MS).unref();
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, file], { stdio: 'ignore', detached: true, env });
  child.on('error', () => {});
  child.unref();
  return () => {
    clearTimeout(timer);
    remove();
  };
}

/** A token has only letters, digits and a few signs, so that nothing here needs escapes. */
const redirectTo = (address: string): string => `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${address}">
<title>Raymond</title>
<p><a href="${address}">Raymond</a></p>
`;
