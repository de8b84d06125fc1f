import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
