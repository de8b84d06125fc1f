import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toHtmlPage } from '../../src/drawing/html-page.ts';
import { replaceInvisible } from '../../src/drawing/labels.ts';
import { TurnCollector } from '../../src/drawing/state-turns.ts';
import { lintSource } from '../../src/lint/lint.ts';
import { type Browser, findChromium, launch, type Page } from '../chromium/browser.ts';
import { RunDriver } from '../core/run-driver.ts';
import { type Files, sourceOf } from '../lint/source-of.ts';
import { HOSTILE_FILES, HOSTILE_NAMES, HOSTILE_TEXT } from './hostile.ts';
import { diagramOf, overlayOf } from './run-overlay.ts';

const chromium = findChromium();
const why = chromium.kind === 'none' ? ` (${chromium.reason})` : '';
const DEMO = join(import.meta.dirname, '..', '..', 'examples', 'demo');

/** A page that is open, and what it did that it should not. */
interface Opened {
  readonly page: Page;
  readonly requests: readonly string[];
  readonly errors: readonly string[];
}

describe.skipIf(chromium.kind === 'none')(`a page in Chromium${why}`, () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    if (chromium.kind === 'found') browser = await launch(chromium);
    folder = mkdtempSync(join(tmpdir(), 'raymond-page-'));
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  async function open(html: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Opened> {
    const page = await browser.newPage({ viewport: { width: 1300, height: 800 }, ...options });
    onTestFinished(() => page.close());
    const [requests, errors]: [string[], string[]] = [[], []];
    const url = pathToFileURL(join(folder, `${Math.random()}.html`));
    page.on('request', (request) => request.url() !== url.href && requests.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('dialog', (dialog) => {
      errors.push('a dialog');
      void dialog.dismiss();
    });
    writeFileSync(url, html);
    await page.goto(url.href);
    return { page, requests, errors };
  }

  const pageOf = (files: Files): Promise<string> => {
    const source = sourceOf(files);
    return toHtmlPage(diagramOf(files), { source, findings: lintSource(source), run: null });
  };
  const demoPage = (): Promise<string> => pageOf(filesIn(DEMO));

  test('shows every state of the demo, readable and within its canvas, without network requests', async () => {
    const html = await demoPage();
    expect(html).not.toMatch(/\s(?:src|srcset|href|xlink:href|action|poster)="(?!data:)|@import|url\(/);
    const { page, requests, errors } = await open(html);
    const [canvas] = (await boxesOf(page, '#canvas')) as [Box];
    const boxes = await boxesOf(page, '#canvas .state');
    expect(boxes).toHaveLength(10);
    expect(boxes.filter((box) => !isWithin(box, canvas) || box.height < 15)).toStrictEqual([]);
    // An empty page of this size is a tenth of that.
    expect((await page.screenshot()).length).toBeGreaterThan(50_000);
    expect([requests, errors]).toStrictEqual([[], []]);
    expect(await page.textContent('#summary')).toBe('10 states, 14 transitions');
    expect(await page.evaluate("document.querySelectorAll('#legend li').length")).toBeGreaterThan(8);
  });

  test('cannot make network requests', async () => {
    const { page } = await open(await demoPage());
    const attempt = `new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
      fetch('https://example.com/').then(() => resolve('sent'), () => {});
    })`;
    expect(await page.evaluate(attempt)).toBe('connect-src');
  });

  test('shows a clicked state: prompt, policy, and its targets', async () => {
    const { page, requests, errors } = await open(await demoPage());
    await page.click(`#canvas [aria-label^="DECIDE.md"]`);
    expect(await page.textContent('#details h2')).toBe('DECIDE.md');
    const details = (await page.textContent('#details')) ?? '';
    expect(details).toContain('<fork next="FINISH.md">DOCS.md</fork>');
    expect(details).toContain('Back in the conversation that wrote the code.');
    expect(details).toContain('max_visits4');
    expect(await page.textContent('#details pre')).toContain('If this is FAIL, fix exactly what is named');
    expect(await textsOf(page, '#details section:nth-of-type(2) .link')).toStrictEqual([
      'TEST.sh',
      'DOCS.md',
      'CHANGES.md',
      'FINISH.md',
    ]);
    await page.click('#details .link:text("TEST.sh")');
    expect(await page.textContent('#details h2')).toBe('TEST.sh');
    await page.click('#details .link:text("All states")');
    expect([await page.isVisible('#details'), await page.isVisible('#states')]).toStrictEqual([false, true]);
    expect([requests, errors]).toStrictEqual([[], []]);
  });

  test("goes back to the previous state with the browser's back button", async () => {
    const { page } = await open(await demoPage());
    await page.click(`#canvas [aria-label^="DECIDE.md"]`);
    await page.click('#details .link:text("TEST.sh")');
    await page.goBack();
    expect(await page.textContent('#details h2')).toBe('DECIDE.md');
    await page.goBack();
    expect([await page.isVisible('#details'), await page.isVisible('#states')]).toStrictEqual([false, true]);
  });

  test('is moved and zoomed by wheel, by dragging and by keys', async () => {
    const { page } = await open(await demoPage());
    const viewBox = (): Promise<readonly number[]> =>
      page.evaluate("document.querySelector('#canvas svg').getAttribute('viewBox').split(' ').map(Number)") as Promise<
        number[]
      >;
    const [x = 0, y = 0, width = 0] = await viewBox();
    await page.mouse.move(300, 300);
    await page.mouse.wheel(0, -300);
    const zoomed = await viewBox();
    expect(zoomed[2]).toBeLessThan(width);
    await page.press('#canvas', '0');
    expect(await viewBox()).toStrictEqual([x, y, width, (await viewBox())[3]]);
    await page.press('#canvas', 'ArrowRight');
    expect((await viewBox())[0]).toBeGreaterThan(x);
    await page.press('#canvas', '-');
    expect((await viewBox())[2]).toBeGreaterThan(width);
    const before = await viewBox();
    await page.mouse.down();
    await page.mouse.move(420, 360);
    await page.mouse.up();
    const after = await viewBox();
    expect(after[0]).toBeLessThan(before[0] ?? 0);
    expect(after[1]).toBeLessThan(before[1] ?? 0);
    // A drag that begins on a state is no click on it.
    expect(await page.isVisible('#details')).toBe(false);
  });

  test('can be used with the keyboard alone', async () => {
    const { page } = await open(await demoPage());
    const focused = (): Promise<unknown> => page.evaluate("document.activeElement.getAttribute('aria-label')");
    await page.press('body', '/');
    expect(await focused()).toMatch(/^Find a state/);
    await page.press('#search', 'Escape');
    await page.evaluate('document.querySelector(\'#canvas .state[tabindex="0"]\').focus()');
    expect(await focused()).toBe('START.md, prompt');
    await page.keyboard.press('ArrowDown');
    const below = await focused();
    expect(['RESEARCH.md, prompt', 'IMPLEMENT.md, prompt']).toContain(below);
    await page.keyboard.press('Enter');
    expect(`${await page.textContent('#details h2')}, prompt`).toBe(below);
    await page.keyboard.press('Escape');
    expect(await page.isVisible('#details')).toBe(false);
    expect(await page.evaluate("document.querySelectorAll('#states button').length")).toBe(10);
  });

  test('marks states with findings, and shows the place and hint of each', async () => {
    const { page } = await open(
      await pageOf({
        'START.md': '---\nallowed_transitions: [{ tag: goto, target: Z }]\n---\nContinue, then stop.\n',
        'Z.sh': '#!/bin/bash\necho "<goto>GHOST</goto>"\n',
        'A.md': '---\nmodel: sonet\nallowed_transitions: [{ tag: result }]\n---\nStop. <result>x</result>',
      }),
    );
    expect(await textsOf(page, '#states .name')).toStrictEqual(['START.md', 'Z.sh', 'GHOST', 'A.md']);
    expect(await textsOf(page, '#states .badge')).toStrictEqual(['1 error', '1 warning']);
    expect(await textsOf(page, '#canvas .badge')).toStrictEqual(['!', '!']);
    await page.click('#canvas [aria-label="Z.sh, script, 1 error"]');
    expect(await textsOf(page, '#details .error code')).toContain('GHOST');
    expect(await page.textContent('#details .error > button')).toBe('line 2');
    expect(((await page.textContent('#details .error .hint')) ?? '').length).toBeGreaterThan(10);
    expect(await page.textContent('#details .line.error')).toBe('echo "<goto>GHOST</goto>"\n');
    await page.click('#details .link:text("START.md")');
    expect(await page.textContent('#details .info')).toContain('line 2 (frontmatter): ');
    expect(await page.evaluate("document.querySelector('#details pre').style.counterReset")).toBe('line 3');
  });

  test('shows findings about the workflow as a whole', async () => {
    const { page } = await open(await pageOf({ 'A.md': 'Stop. <result>x</result>' }));
    expect(await page.textContent('#summary')).toBe('1 state, 1 transition, 1 error');
    expect(await textsOf(page, '#findings li strong')).toStrictEqual(['error']);
    expect(await page.textContent('#findings')).toContain('missing-entry');
    await page.click('#states button');
    expect(await page.isVisible('#findings')).toBe(false);
    const { page: sound } = await open(await demoPage());
    expect(await sound.isVisible('#findings')).toBe(false);
  });

  test('shows hostile names and prompts as plain text', async () => {
    const { page, requests, errors } = await open(await pageOf(HOSTILE_FILES));
    expect((await textsOf(page, '#states .name')).filter((name) => !name.startsWith('NOWHERE')).sort()).toStrictEqual(
      [...HOSTILE_NAMES.map(replaceInvisible), 'START.md'].sort(),
    );
    for (const name of ['START.md', ...HOSTILE_NAMES]) {
      await page.fill('#search', name.replace(/[\n\t]/g, ' '));
      await page.evaluate(
        `[...document.querySelectorAll('#states li')].find((li) => li.querySelector('.name').textContent === ${JSON.stringify(replaceInvisible(name))}).firstChild.click()`,
      );
      expect(await page.textContent('#details h2')).toBe(replaceInvisible(name));
      expect(await page.textContent('#details pre')).toBe(replaceInvisible(HOSTILE_TEXT));
    }
    expect(await page.evaluate('typeof bad')).toBe('undefined');
    expect(await page.evaluate("document.querySelectorAll('script').length")).toBe(2);
    expect(await page.evaluate("document.querySelectorAll('img, #canvas [onload], [onclick], [onerror]').length")).toBe(
      0,
    );
    expect([requests, errors]).toStrictEqual([[], []]);
  });

  test('stays readable with 500 states: it begins at the start, and the search finds states', async () => {
    const { page, requests, errors } = await open(await pageOf(manyStates(500)));
    const [canvas] = (await boxesOf(page, '#canvas')) as [Box];
    const [first] = await boxesOf(page, '#canvas [aria-label^="START.md"]');
    expect(first !== undefined && isWithin(first, canvas) && first.height > 20).toBe(true);
    await page.fill('#search', 'STATE_250');
    expect(await page.textContent('#found')).toBe('3 of 501');
    await page.press('#search', 'Enter');
    expect(await page.textContent('#details h2')).toBe('STATE_250.md');
    const [found] = await boxesOf(page, '#canvas .selected');
    expect(found !== undefined && isWithin(found, canvas) && found.height > 20).toBe(true);
    // Arrows have no labels in so large a picture, but those that are looked at.
    expect((await textsOf(page, '#canvas .edge text')).toSorted()).toStrictEqual(['goto', 'goto', 'reset', 'reset']);
    expect([requests, errors]).toStrictEqual([[], []]);
  });

  test('shows in which directions the diagram continues, and wastes no space beside it', async () => {
    const { page } = await open(await demoPage());
    expect(await page.isVisible('#more')).toBe(false);
    const names = Array.from({ length: 60 }, (_, index) => `WIDE_${index}.md`);
    const { page: wide } = await open(
      await pageOf({
        'START.md': names.map((name) => `<goto>${name}</goto>`).join(' or '),
        ...Object.fromEntries(names.map((name) => [name, 'Stop. <result>x</result>'])),
      }),
    );
    expect(await wide.textContent('#more')).toBe('The picture continues ← →');
    // Fitting it in would make it unreadable: it stays as large as it can be read.
    await wide.press('#canvas', '-');
    await wide.press('#canvas', '0');
    expect(await wide.textContent('#more')).toBe('The picture continues ← →');
    expect((await boxesOf(wide, '#canvas .state')).every(({ height }) => height >= 20)).toBe(true);
    const phone = { width: 390, height: 844 };
    const { page: narrow } = await open(await demoPage(), { viewport: phone });
    expect((await boxesOf(narrow, '#canvas .state')).every(({ height }) => height >= 20)).toBe(true);
    expect((await boxesOf(narrow, '#canvas .state')).some((box) => box.x >= 0 && box.x + box.width <= 390)).toBe(true);
    const { page: long } = await open(await pageOf(manyStates(40)));
    expect(await long.textContent('#more')).toBe('The picture continues ↓');
    const [canvas] = (await boxesOf(long, '#canvas')) as [Box];
    const boxes = await boxesOf(long, '#canvas .state');
    expect(boxes.filter(({ x, width }) => x < canvas.x || x + width > canvas.x + canvas.width)).toStrictEqual([]);
  });

  test('shows the turns of a clicked state, with hostile answers and denials as plain text', async () => {
    const files = { 'START.md': 'Stop. <result>x</result>' };
    const hostile = '</script><script>alert(1)</script><img src=x onerror=alert(1)>';
    const driver = new RunDriver({ files: Object.keys(files) });
    driver.answer({ text: '<result>x</result>', denials: [`Bash(${hostile})`] });
    const collector = new TurnCollector();
    for (const event of driver.events) collector.add(event);
    const turns = new Map(
      Array.from(collector.states, ([state, { turns: past, leftOut }]) => [
        state,
        { turns: past.map((each) => ({ ...each, answer: { text: hostile, isCut: true } })), leftOut },
      ]),
    );
    const diagram = diagramOf(files, overlayOf(driver));
    const { page, requests, errors } = await open(
      await toHtmlPage(diagram, { source: sourceOf(files), findings: [], run: 'completed', turns }),
    );
    await page.click(`#canvas [aria-label^="START.md"]`);
    expect(await page.textContent('.turns summary')).toContain('main, turn 1');
    expect(await page.textContent('.turns .turn-outcome')).toContain('START.md → end (result)');
    expect(await page.textContent('.turns pre')).toBe(hostile);
    expect(await page.textContent('.turns p.denied')).toBe(`Denied: Bash(${hostile})`);
    expect(await page.textContent('.turns .hint')).toBe('This is only a part of it: raymond logs has it all.');
    expect([requests, errors]).toStrictEqual([[], []]);
  });

  test('shows the past and current positions of agents', async () => {
    const files = filesIn(DEMO);
    const driver = new RunDriver({ files: ['START.md', 'RESEARCH.md', 'IMPLEMENT.md', 'OLD.md'] });
    driver.answer('<call return="IMPLEMENT">RESEARCH</call>', '<result>x</result>', '<goto>OLD</goto>').begin('main');
    const diagram = diagramOf(files, overlayOf(driver));
    const { page } = await open(
      await toHtmlPage(diagram, { source: sourceOf(files), findings: [], run: 'running: 1 agent' }),
    );
    expect(await page.textContent('#summary')).toBe('running: 1 agent');
    expect(await page.textContent('#canvas .here')).toContain('▶ main');
    expect(await textsOf(page, '#canvas .edge:not(.untaken) text')).toContain(' return ×1 ');
    expect(await textsOf(page, '#states .untaken .name')).toContain('FINISH.md');
    expect(await textsOf(page, '#states .untaken .name')).not.toContain('RESEARCH.md');
    await page.click('#canvas .gone');
    expect(await page.textContent('#details h2')).toBe('OLD.md');
    expect(await page.textContent('#details dl')).toBe('mainrunning');
  });

  test('has a light and a dark theme, by preference or by choice', async () => {
    const html = await demoPage();
    const background = async (page: Page): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    const { page: day } = await open(html, { colorScheme: 'light' });
    const { page: night } = await open(html, { colorScheme: 'dark' });
    expect([await background(day), await background(night)]).toStrictEqual(['rgb(255, 255, 255)', 'rgb(27, 32, 40)']);
    await night.click('#theme');
    expect(await background(night)).toBe('rgb(255, 255, 255)');
  });
});

test.each([
  [
    'a fork and the goto beside it are two',
    { 'START.md': '<fork>A</fork> and <goto>A</goto>' },
    '2 states, 3 transitions',
  ],
  ['a call is one', { 'START.md': '<call return="A">A</call>' }, '2 states, 2 transitions'],
  [
    'a result is one, whether it ends or returns',
    { 'START.md': '<call return="A">START</call> or <result>x</result>' },
    '2 states, 3 transitions',
  ],
  [
    'what is missing is none',
    { 'START.md': 'If so <goto>GONE</goto>, else <goto>A</goto>' },
    '2 states, 2 transitions, 1 missing state',
  ],
  [
    'what is ambiguous is none',
    { 'START.md': 'Then <goto>A</goto>', 'A.sh': 'echo "<result>x</result>"' },
    '3 states, 2 transitions, 1 ambiguous name',
  ],
])('a page with many states and transitions, %s', async (_, start, said) => {
  const files = { ...start, 'A.md': 'Stop. <result>x</result>' };
  const html = await toHtmlPage(diagramOf(files), { source: sourceOf(files), findings: [], run: null });
  expect(html).toContain(`<p id="summary">${said}</p>`);
});

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const boxesOf = (page: Page, selector: string): Promise<readonly Box[]> =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.getBoundingClientRect().toJSON())`,
  ) as Promise<Box[]>;

const textsOf = (page: Page, selector: string): Promise<readonly string[]> =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.textContent)`,
  ) as Promise<string[]>;

const isWithin = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

const filesIn = (folder: string): Files =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name !== 'README.md')
      .map((name) => [name, readFileSync(join(folder, name))]),
  );

/** A long way with a step back everywhere. */
function manyStates(count: number): Files {
  const name = (index: number): string => `STATE_${Math.max(0, Math.min(count - 1, index))}.md`;
  const states = Array.from({ length: count }, (_, index): [string, string] => [
    name(index),
    `Do step ${index}, then stop. <goto>${name(index + 1)}</goto> or <reset>${name(index - 3)}</reset>`,
  ]);
  return Object.fromEntries([['START.md', `Stop. <goto>${name(0)}</goto>`], ...states]);
}
