import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findChromium, launch } from '../chromium/browser.ts';
import { newCliProject } from '../cli/cli-project.ts';
import { startServeProcess } from '../server/serve-process.ts';

/** `raymond serve --open` with a browser that only notes what it is called with. */
async function openServer() {
  const { cwd, configHome } = newCliProject();
  const [bin, called] = [join(configHome, 'bin'), join(configHome, 'called')];
  mkdirSync(bin);
  for (const name of ['xdg-open', 'open'])
    writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s' "$*" > ${called}.new && mv ${called}.new ${called}\n`, {
      mode: 0o755,
    });
  const env = { ...process.env, XDG_CONFIG_HOME: configHome, PATH: `${bin}:${process.env.PATH}`, TMPDIR: configHome };
  const server = await startServeProcess(cwd, ['--open'], env);
  await vi.waitUntil(() => existsSync(called), { timeout: 20_000, interval: 10 });
  return { server, file: readFileSync(called, 'utf8') };
}

test('serve --open puts no token on a command line: the browser gets a file that only this user can read', async () => {
  const { server, file } = await openServer();
  expect(file).not.toContain(server.token);
  expect(readFileSync(file, 'utf8')).toContain(`url=${server.origin}/?token=${server.token}"`);
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toStrictEqual([0o600, 0o700]);
  server.signal('SIGINT');
  expect(await server.exited).toBe(0);
  expect(existsSync(dirname(file))).toBe(false);
});

const chromium = findChromium();

test.skipIf(chromium.kind === 'none')('the file leads a browser to the page, which lets it in', async () => {
  if (chromium.kind === 'none') return;
  const { server, file } = await openServer();
  const browser = await launch(chromium);
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`file://${file}`);
  await vi.waitFor(async () => expect(await page.textContent('body')).toMatch('There are no runs yet'), {
    timeout: 20_000,
    interval: 50,
  });
  expect([page.url().startsWith(server.origin), page.url().includes(server.token)]).toStrictEqual([true, false]);
});
