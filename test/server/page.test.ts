import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Browser, findChromium, launch, type Page } from '../chromium/browser.ts';
import { appears, waiting, writeWorkflow } from '../cli/owners.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const chromium = findChromium();
const why = chromium.kind === 'none' ? ` (${chromium.reason})` : '';

const SIZES = [
  ['wide and light', { viewport: { width: 1400, height: 900 }, colorScheme: 'light' }],
  ['narrow and dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
] as const;

describe.skipIf(chromium.kind === 'none')(`the page in Chromium${why}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    if (chromium.kind === 'found') browser = await launch(chromium);
  });
  afterAll(() => browser?.close());

  async function open(server: TestServer, options: Parameters<Browser['newPage']>[0]) {
    const page = await browser.newPage(options);
    onTestFinished(() => page.close());
    const [errors, foreign]: [string[], string[]] = [[], []];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('request', (request) => request.url().startsWith(server.origin) || foreign.push(request.url()));
    await page.goto(server.server.address);
    return { page, errors, foreign };
  }

  const shows = (page: Page, text: string | RegExp) =>
    vi.waitFor(async () => expect(await page.textContent('body')).toMatch(text), { timeout: 20_000, interval: 50 });

  test.each(SIZES)('leads through start, watch, stop and resume, %s', async (_, options) => {
    const server = await startTestServer();
    const states = { 'START.sh': waiting('<goto>NEXT</goto>'), 'NEXT.sh': 'echo "<result># Done</result>"' };
    writeWorkflow(server.cwd, 'wf', {
      ...states,
      'workflow.yaml': 'description: Waits, then ends.\ninput: { label: What for }\n',
    });
    const { page, errors, foreign } = await open(server, options);
    await shows(page, 'There are no runs yet');
    await page.click('text=Start a run');
    await page.click('text=Waits, then ends.');
    await page.fill('textarea', 'nothing');
    await page.click('button.main');
    await shows(page, /running/);
    await appears(server.cwd, 'here');
    await page.click('text=Stop after the running turns');
    await shows(page, /stopping/);
    writeFileSync(join(server.cwd, 'go'), '');
    await shows(page, /paused/);
    await page.click('text="Resume"');
    await shows(page, /completed/);
    await page.click('text="stream"');
    await shows(page, 'START.sh → NEXT.sh (goto)');
    await page.click('text="turns"');
    await page.click('text=2. NEXT.sh');
    await shows(page, '<result># Done</result>');
    expect([errors, foreign]).toStrictEqual([[], []]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });

  test('leads through start, question, answer with a file, stop and resume, narrow and dark', async () => {
    const [, [, options]] = SIZES;
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', {
      'START.sh': `echo '# The plan' > "$RAYMOND_TASK_FOLDER/plan.md"
echo '<ask next="NEXT" display_files="plan.md:The plan" upload_slots="a.txt">**Publish** it? <img src=x onerror=alert(1)></ask>'`,
      'NEXT.sh': waiting('<goto>END</goto>'),
      'END.sh': 'echo "<result>$(cat "$RAYMOND_TASK_FOLDER"/asks/*/a.txt)</result>"',
    });
    writeFileSync(join(server.cwd, 'mine.txt'), 'from the browser');
    const { page, errors, foreign } = await open(server, options);
    await page.click('text=Start a run');
    await page.click('.cards a');
    await page.click('button.main');
    await shows(page, /A question for you/);
    expect(await page.evaluate('document.querySelector(".question img")')).toBe(null);
    await page.click('text="Runs"');
    await shows(page, /A question for you.*Publish it\?.*The plan/s);
    await page.setInputFiles('.question input[type=file]', join(server.cwd, 'mine.txt'));
    await page.focus('.question textarea');
    await page.keyboard.type('Yes');
    await page.keyboard.press('Control+Enter');
    await vi.waitFor(async () => expect(await page.textContent('body')).not.toContain('A question for you'), {
      timeout: 20_000,
    });
    await page.click('.run-row');
    await appears(server.cwd, 'here');
    await shows(page, /running/);
    await page.click('text=Stop after the running turns');
    await shows(page, /stopping/);
    writeFileSync(join(server.cwd, 'go'), '');
    await shows(page, /paused/);
    await page.click('text="Resume"');
    await shows(page, /from the browser/);
    expect([errors, foreign]).toStrictEqual([[], []]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });

  test('shows turns over time by agent, what agents say as they say it, and one turn in detail', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', {
      'START.sh': 'echo "<fork next=NEXT>WORK</fork>"',
      'NEXT.sh': 'echo "<result>forked</result>"',
      'WORK.sh': `echo one more step; ${waiting('<result>worked</result>')}`,
    });
    const { page, errors } = await open(server, {});
    await page.click('text=Start a run');
    await page.click('.cards a');
    await page.click('button.main');
    await shows(page, /running/);
    // What the worker does stands beside its name, before its turn has ended.
    await shows(page, 'one more step');
    await page.click('text="turns"');
    await shows(page, /main1?.*2 turns/);
    await page.click('text=1. WORK.sh');
    await shows(page, /At this moment.*one more step/);
    writeFileSync(join(server.cwd, 'go'), '');
    await shows(page, /Output.*<result>worked<\/result>/s);
    await page.click('text=back to the run');
    await page.click('text="stream"');
    await page.click('text="what agents say"');
    await shows(page, /one more step/);
    expect(await page.evaluate('document.querySelectorAll(".event-turn_started").length')).toBe(0);
    expect(errors).toStrictEqual([]);
  });

  test('shows what an agent says without running any of it', async () => {
    const server = await startTestServer();
    const hostile = '<img src=x onerror=alert(1)> [a](javascript:alert(2)) <script>alert(3)</script> **bold**';
    writeWorkflow(server.cwd, 'wf', { 'START.sh': `cat <<'END'\n<result>${hostile}</result>\nEND` });
    const name = '<img src=x onerror=alert(4)>\u001b[31m';
    await server.raymond('run', 'wf', '--run-id', 'r1', '--quiet', '--name', name);
    const { page, errors, foreign } = await open(server, {});
    await page.evaluate(
      'window.violations = []; document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective)); 0',
    );
    const dialogs: unknown[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog);
      return dialog.dismiss();
    });
    await page.click('text=r1');
    await shows(page, '<script>alert(3)</script>');
    expect(await page.textContent('.markdown strong')).toBe('bold');
    expect(await page.evaluate('document.querySelectorAll("main img, main script, a[href^=javascript]").length')).toBe(
      0,
    );
    for (const view of ['turns', 'stream', 'graph', 'agents']) await page.click(`text="${view}"`);
    await page.click('text=main');
    await shows(page, /Output/);
    expect(await page.textContent('.output')).toContain(hostile);
    expect(await page.evaluate('violations.join()')).toBe('');
    expect([errors, foreign, dialogs]).toStrictEqual([[], [], []]);
  });
});
