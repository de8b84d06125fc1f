import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Browser, findChromium, launch, type Page } from '../chromium/browser.ts';
import { appears, waiting, writeWorkflow } from '../cli/owners.ts';
import { git } from '../git.ts';
import { worktreesFolder } from '../worktrees-folder.ts';
import { startSlowRun } from './slow-run.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const chromium = findChromium();
const why = chromium.kind === 'none' ? ` (${chromium.reason})` : '';

const WIDE = { width: 1400, height: 900 };
const NARROW = { width: 390, height: 844 };
const LIGHT = { colorScheme: 'light', background: 'rgb(255, 255, 255)' } as const;
const DARK = { colorScheme: 'dark', background: 'rgb(13, 17, 23)' } as const;

/** The windows in which the page is visited, and how it is used there. */
const VISITS = [
  { viewport: WIDE, ...LIGHT, keyboard: false },
  { viewport: NARROW, ...LIGHT, keyboard: true },
  { viewport: WIDE, ...DARK, keyboard: true },
  { viewport: NARROW, ...DARK, keyboard: false },
].map(({ viewport, colorScheme, ...rest }) => ({ options: { viewport, colorScheme }, ...rest }));

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

  /** Leads a new run from its start to its end, as a visitor does, with the mouse or with the keyboard alone. */
  async function visit({ options, keyboard, background }: (typeof VISITS)[number]): Promise<void> {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', {
      'workflow.yaml': 'description: Asks, then waits.\ninput: { label: What for }\n',
      'START.sh': `echo '# The plan' > "$RAYMOND_TASK_FOLDER/plan.md"
echo '<ask next="NEXT" display_files="plan.md:The plan" upload_slots="a.txt">**Publish** it? <img src=x onerror=alert(1)></ask>'`,
      'NEXT.sh': `echo "$RAYMOND_INPUT"; ${waiting('<goto>END</goto>')}`,
      'END.sh': 'echo "<result># $(cat "$RAYMOND_TASK_FOLDER"/asks/*/a.txt)</result>"',
    });
    writeFileSync(join(server.cwd, 'mine.txt'), 'from the browser');
    const { page, errors, foreign } = await open(server, options);
    const use = async (selector: string): Promise<void> => {
      if (!keyboard) return page.click(selector);
      await page.focus(selector);
      await page.keyboard.press('Enter');
    };
    await shows(page, 'There are no runs yet');
    expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe(background);
    await use('text=Start a run');
    await use('.cards a');
    await page.fill('textarea', 'nothing');
    await page.focus('text=Name');
    // A field of a form can be left with Enter, too.
    if (keyboard) await page.press('input[type=number]', 'Enter');
    else await page.click('button.main');
    await shows(page, /A question for you/);
    expect(await page.evaluate('document.querySelector(".question img")')).toBe(null);
    await use('nav >> text="Runs"');
    await shows(page, /A question for you.*Publish it\?.*The plan/s);
    await page.focus('.question textarea');
    await page.keyboard.type('Yes');
    await page.keyboard.press('Control+Enter');
    // The file is still missing: the browser says so, and nothing is sent.
    expect(await page.evaluate('document.querySelectorAll(".question :invalid").length')).toBe(1);
    await page.setInputFiles('.question input[type=file]', join(server.cwd, 'mine.txt'));
    await page.focus('.question textarea');
    await page.keyboard.press('Control+Enter');
    await appears(server.cwd, 'here');
    await vi.waitFor(async () => expect(await page.textContent('body')).not.toContain('A question for you'), {
      timeout: 20_000,
    });
    await use('.run-row');
    await shows(page, /running/);
    await use('text="turns"');
    await use('a:has-text("2. NEXT.sh")');
    await shows(page, /At this moment.*Yes/s);
    await use('text=back to the run');
    await use('text=Stop after the running turns');
    await shows(page, /stopping/);
    writeFileSync(join(server.cwd, 'go'), '');
    await shows(page, /paused/);
    await use('text="Resume"');
    await shows(page, /completed/);
    await use('text="agents"');
    await shows(page, 'from the browser');
    await use('text="stream"');
    await shows(page, 'NEXT.sh → END.sh (goto)');
    await use('text="graph"');
    // A thread draws it, which has to be started first.
    await vi.waitFor(
      async () => expect(await page.evaluate('document.querySelector(".picture img")?.naturalWidth > 0')).toBe(true),
      { timeout: 20_000 },
    );
    expect([errors, foreign]).toStrictEqual([[], []]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  }

  test('leads through start, watch, answer, stop and resume, wide and narrow, light and dark, with mouse or keyboard', async () => {
    const visits = VISITS.map((each) =>
      visit(each).catch((cause: unknown) => {
        throw new Error(JSON.stringify(each), { cause });
      }),
    );
    await Promise.all(visits);
  }, 120_000);

  test('says something to an agent, and interrupts it', async () => {
    const server = await startTestServer();
    const running = await startSlowRun(server);
    const { page, errors } = await open(server, { viewport: NARROW });
    page.on('dialog', (dialog) => void dialog.accept());
    await page.click('.run-row');
    await shows(page, /Say to main/);
    await page.fill('.talk textarea', 'Mind the gap');
    await page.click('text="Say it"');
    await shows(page, 'It is put before the next prompt.');
    await page.fill('.talk textarea', 'Faster');
    await page.click('text="Interrupt, and continue with this"');
    await shows(page, 'main is interrupted.');
    await shows(page, '2 turns');
    await page.click('text="stream"');
    await shows(page, /said: Mind the gap/);
    running.kill();
    await running.finished;
    expect(errors).toStrictEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  }, 120_000);

  test('tells what is wrong with a workflow, and what of a question is over', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.md': '---\nmax_visits: lots\n---\nSay <result>x</result>.' });
    const start = `echo '<ask next="END" timeout="1s" timeout_next="END">Publish it?</ask>'`;
    writeWorkflow(server.cwd, 'b', { 'START.sh': start, 'END.sh': 'echo "<result>late</result>"' });
    await server.raymond('run', 'b', '--run-id', 'r1', '--quiet');
    const { page, errors } = await open(server, {});
    await page.click('nav >> text="Workflows"');
    await shows(page, '1 state');
    await page.click('.cards a');
    await shows(page, /START\.md:2:13 error: `max_visits` must be a whole number of at least 1, not the text `lots`/);
    await page.click('nav >> text="Runs"');
    await page.click('.run-row');
    await shows(page, /its time was over at .*: resume the run, which continues in END\.sh/);
    expect(await page.evaluate('document.querySelector(".question button").disabled')).toBe(true);
    // The question stands in its form only, and nothing has failed.
    expect(await page.textContent('.run-head')).not.toMatch(/Publish it|Retry/);
    await page.click('text="Resume"');
    await shows(page, /completed.*late/s);
    expect(errors).toStrictEqual([]);
  });

  test('answers a question with a button for each choice', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', {
      'START.sh': `echo '<ask next="MANY" choices="Merge|Discard">Merge it?</ask>'`,
      'MANY.sh': `echo "<ask next='END' choices='api|web|docs' choices_many='true'>$RAYMOND_INPUT what?</ask>"`,
      'END.sh': `echo "<result>$(echo "$RAYMOND_INPUT" | paste -sd+)</result>"`,
    });
    await server.raymond('run', 'wf', '--run-id', 'r1', '--quiet');
    const { page, errors } = await open(server, {});
    await page.click('.run-row');
    await shows(page, /Merge it\?/);
    expect(await page.evaluate('document.querySelectorAll(".question textarea").length')).toBe(0);
    await page.click('.question button:has-text("Discard")');
    await shows(page, /Discard what\?/);
    await page.click('.question label:has-text("docs")');
    await page.click('.question label:has-text("api")');
    await page.click('.question button.main');
    await shows(page, /completed.*api\+docs/s);
    expect(errors).toStrictEqual([]);
  });

  test('raises the budget of a run that has spent it', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', { 'START.md': 'Spend.', 'NEXT.md': 'More.' });
    writeFileSync(
      join(server.cwd, 'answers.yaml'),
      'answers:\n  START: { text: <goto>NEXT</goto>, cost: 2 }\n  NEXT: { text: <result>bought</result>, cost: 1 }\n',
    );
    const args = ['--agent', 'replay:answers.yaml', '--budget', '1', '--run-id', 'r1', '--quiet'];
    await server.raymond('run', 'wf', ...args);
    const { page, errors } = await open(server, {});
    await shows(page, /budget exceeded/);
    await page.click('.run-row');
    await shows(page, /\$2\.00 of \$1\.00.*Raise the budget to \$/s);
    await page.fill('input[type=number]', '5');
    await page.click('text="Resume"');
    await shows(page, /completed.*\$3\.00 of \$5\.00.*bought/s);
    expect(errors).toStrictEqual([]);
  });

  test('shows how full the windows of the subscription are', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', { 'START.md': 'Begin.' });
    const answer = '{ text: <result>done</result>, quota: 83.4, resets_in: 600 }';
    writeFileSync(join(server.cwd, 'answers.yaml'), `answers: { START: ${answer} }\n`);
    await server.raymond('run', 'wf', '--agent', 'replay:answers.yaml', '--run-id', 'r1', '--quiet');
    const { page, errors } = await open(server, {});
    await page.click('.run-row');
    await shows(page, /quota 5h 83 % until \d/);
    expect(errors).toStrictEqual([]);
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
    // Who comes later sees it, too, and once.
    await page.goto(page.url());
    await page.click('text="stream"');
    await page.click('text="what agents say"');
    await shows(page, /one more step/);
    expect((await page.textContent('.virtual'))?.split('one more step')).toHaveLength(2);
    expect(await page.evaluate('document.querySelectorAll(".event-turn_started").length')).toBe(0);
    expect(errors).toStrictEqual([]);
  });

  test('shows in which worktree an agent works, and what it has left there', async () => {
    const server = await startTestServer();
    git(server.cwd, 'init', '-q');
    git(server.cwd, 'commit', '-q', '--allow-empty', '-m', 'first');
    writeWorkflow(server.cwd, 'wf', {
      'START.sh': `echo '<fork worktree="auto">W</fork><join>END</join>'`,
      'W.sh': 'echo new > new.txt; echo "<result>worked</result>"',
      'END.sh': 'echo "<result>joined</result>"',
    });
    await server.raymond('run', 'wf', '--run-id', 'r1', '--quiet');
    const { page, errors } = await open(server, {});
    await page.click('.run-row');
    const folder = join(worktreesFolder(server.cwd, 'r1'), 'main_w1');
    await shows(page, `worktree raymond/r1/main_w1 (0 commits, uncommitted changes) in ${folder}`);
    expect(errors).toStrictEqual([]);
  });

  test.each([
    ['wide', WIDE],
    ['narrow', NARROW],
  ])(
    'filters runs, retries what failed and takes files of several types, in a %s window',
    async (_, viewport) => {
      const server = await startTestServer();
      writeWorkflow(server.cwd, 'wf', {
        // While one agent asks, another works: the run is running, and needs a person.
        'START.sh': `echo '<fork next="ASK">WORK</fork>'`,
        'ASK.sh': `echo '<ask next="END" upload_slots="scan.bin:image/png|text/plain">Where is the scan?</ask>'`,
        'WORK.sh': waiting('<result>worked</result>'),
        'END.sh': 'echo "<result>got $(cat "$RAYMOND_TASK_FOLDER"/asks/*/scan.bin)</result>"',
      });
      writeWorkflow(server.cwd, 'fails', {
        'START.sh': '[ -f mended ] || exit 7; echo "<result>better now</result>"',
      });
      writeWorkflow(server.cwd, 'fine', { 'START.sh': 'echo "<result>fine</result>"' });
      await server.raymond('run', 'fine', '--run-id', 'fine', '--quiet');
      await server.raymond('run', 'fails', '--run-id', 'fails', '--quiet');
      writeFileSync(join(server.cwd, 'scan.txt'), 'the scan');
      writeFileSync(join(server.cwd, 'scan.pdf'), 'no scan');
      const { page, errors } = await open(server, { viewport });
      await page.click('text=Start a run');
      await page.click('.cards a:has-text("wf")');
      await page.click('button.main');
      await shows(page, 'Stop now');
      await appears(server.cwd, 'here');
      await page.click('nav >> text="Runs"');
      const listed = () =>
        page.evaluate('[...document.querySelectorAll(".run-row strong")].map((e) => e.textContent).sort().join()');
      const filterBy = async (name: string, expected: string): Promise<void> => {
        await page.click(`.tabs button:has-text("${name}")`);
        await vi.waitFor(async () => expect(await listed()).toBe(expected), { timeout: 20_000 });
      };
      await shows(page, /A question for you/);
      await filterBy('all', 'fails,fine,wf');
      await filterBy('needs you', 'wf');
      await filterBy('running', 'wf');
      await filterBy('completed', 'fine');
      await filterBy('failed', 'fails');

      await page.click('.run-row');
      await shows(page, /Retry what failed/);
      expect(await page.isVisible('text="Resume"')).toBe(false);
      writeFileSync(join(server.cwd, 'mended'), '');
      await page.click('text="Retry what failed"');
      await shows(page, /completed.*better now/s);
      expect(await page.isVisible('text="Retry what failed"')).toBe(false);

      await page.click('nav >> text="Runs"');
      await filterBy('needs you', 'wf');
      expect(await page.getAttribute('.question input[type=file]', 'accept')).toBe('image/png,text/plain');
      await page.setInputFiles('.question input[type=file]', join(server.cwd, 'scan.pdf'));
      await page.click('.question button.main');
      await shows(page, /scan\.bin is application\/pdf, and should be image\/png or text\/plain/);
      await page.setInputFiles('.question input[type=file]', join(server.cwd, 'scan.txt'));
      await page.click('.question button.main');
      await vi.waitFor(async () => expect(await page.textContent('body')).not.toContain('A question for you'), {
        timeout: 20_000,
      });
      // Nothing has failed, and nobody is asked any more.
      await filterBy('needs you', '');
      await filterBy('running', 'wf');
      await page.click('.run-row');
      writeFileSync(join(server.cwd, 'go'), '');
      await shows(page, /completed.*got the scan/s);
      expect(await page.isVisible('text="Retry what failed"')).toBe(false);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(errors).toStrictEqual([]);
    },
    120_000,
  );

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
