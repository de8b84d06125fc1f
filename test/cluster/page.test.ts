import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openDatabaseStorage } from '../../src/cluster/database-storage.ts';
import { startServer } from '../../src/server/serve.ts';
import { findChromium, launch } from '../chromium/browser.ts';
import { type Fleet, GATE } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

const chromium = findChromium();
const why = chromium.kind === 'none' ? ` (${chromium.reason})` : '';
let fleet: Fleet;

useFleet('all', (opened) => {
  fleet = opened;
});

test.skipIf(chromium.kind === 'none')(
  `the page leads through a run of a database${why}`,
  async () => {
    fleet.write({
      ...GATE,
      'gate/AFTER.sh': '#!/bin/bash\necho "<ask next=\\"END.sh\\">Which color?</ask>"\n',
      'gate/END.sh': '#!/bin/bash\necho "<result>It is $RAYMOND_INPUT</result>"\n',
    });
    await fleet.worker('one');
    const database = await openDatabaseStorage(fleet.address);
    const running = await startServer({
      host: '127.0.0.1',
      port: 0,
      roots: [fleet.folder],
      cwd: fleet.folder,
      env: { ...process.env, RAYMOND_DATABASE: fleet.address },
      command: [process.execPath, resolve('dist/raymond.js')],
      version: '1',
      report: () => {},
      openFolder: () => database,
      shared: database,
    });
    if (chromium.kind === 'none') return;
    const browser = await launch(chromium);
    try {
      const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      const shows = (text: string | RegExp) =>
        vi.waitFor(async () => expect(await page.textContent('body')).toMatch(text), { timeout: 20_000, interval: 50 });
      await page.goto(running.address);
      await shows('There are no runs yet');
      await page.click('text=Start a run');
      await page.click('.cards a');
      await page.click('button.main');
      await shows(/running/);
      await vi.waitFor(() => expect(existsSync(join(fleet.folder, 'trace'))).toBe(true), 20_000);
      await page.click('text=Stop after the running turns');
      await shows(/stopping/);
      writeFileSync(join(fleet.folder, 'open'), '');
      await shows(/paused/);
      await page.click('text="Resume"');
      await shows(/A question for you/);
      await page.focus('.question textarea');
      await page.keyboard.type('blue');
      await page.keyboard.press('Control+Enter');
      await shows(/completed/);
      await page.click('text="agents"');
      await shows('It is blue');
      await page.click('text="turns"');
      await page.click('a:has-text("START.sh")');
      await shows(/AFTER/);
      expect(errors).toStrictEqual([]);
    } finally {
      await browser.close();
      await running.close();
      await database.storage.close();
    }
  },
  120_000,
);
