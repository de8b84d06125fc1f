// How smoothly the page shows a large run: the times between frames in Chromium while each view is scrolled, when the run is
// over and while it continues. Without a Chromium (node test/chromium/install.mjs) there is nothing to measure.
import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figure, median, quantile } from './harness.mjs';
import { finish, newFolder, pause, raymond, startServer } from './serve.mjs';

const WORKERS = 1_000;
/** With these, the run has more than 100,000 events. */
const TURNS_EACH = 35;
/** With these, it continues for longer than anybody measures, and is stopped. */
const ENDLESS_TURNS = 2_000;
const STOPPED = 3;
const FRAMES = 240;
const ROUNDS = 3;
const VIEWS = { agents: '.agent-row', turns: '.lane-row', stream: '.event-row' };
/** A frame that takes longer is seen as a hitch. */
const HITCH_MS = 100;

export async function measurePageFrames({ command, workshop, quick }) {
  if (!existsSync(CHROMIUM)) {
    console.error('The page is not measured: node test/chromium/install.mjs installs the Chromium for it');
    return [];
  }
  const [place, workers] = [workshop(), quick ? WORKERS / 10 : WORKERS];
  writeWorkflow(place, workers);
  const start = (id, turns) =>
    raymond(command, place, ['run', 'workflow', '--run-id', id, '--agent', `replay:${turns}.yaml`, ...RUN_OPTIONS]);
  await finish(start('over', TURNS_EACH));
  const server = await startServer(command, place);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(server.address);
    const { projects } = await server.get('/api/projects');
    const open = async (run) => {
      await page.goto(`${server.origin}/runs/${projects[0].id}/${run}`);
      await waitFor(page, 'document.querySelector(".agent-row") !== null');
    };
    await open('over');
    await waitFor(page, `document.body.textContent.includes("completed")`);
    await page.click('.tabs >> text="stream"');
    await waitFor(page, `document.querySelector(".virtual")?.scrollHeight > ${workers * TURNS_EACH * 28}`);
    const over = await measureViews(page, quick ? 1 : ROUNDS);
    const running = finish(start('live', ENDLESS_TURNS), STOPPED);
    while (!(await server.get('/api/runs')).runs.some((run) => run.run_id === 'live')) await pause(50);
    await open('live');
    const live = await measureViews(page, 1);
    await finish(raymond(command, place, ['stop', 'live', '--now']));
    await running;
    return [...toFigures(`a run of ${workers} workers on the page`, over), ...toFigures('  while it continues', live)];
  } finally {
    await browser.close();
    await server.end();
  }
}

const DRIVER = new URL('../test/chromium/package.json', import.meta.url);
const UNPACKED = fileURLToPath(new URL('node_modules/.unpacked/', DRIVER));
const CHROMIUM = join(UNPACKED, 'chromium');

/** Starts the Chromium of the tests, without a sandbox because it has none for root. */
function launchChromium() {
  const { chromium } = createRequire(DRIVER)('playwright-core');
  const libraries = { LD_LIBRARY_PATH: join(UNPACKED, 'al2023', 'lib'), FONTCONFIG_FILE: join(UNPACKED, 'fonts.conf') };
  return chromium.launch({ executablePath: CHROMIUM, env: { ...process.env, ...libraries }, args: ['--no-sandbox'] });
}

const RUN_OPTIONS = ['--quiet', '--budget', '1000', '--max-iterations', '1000000', '--parallel', '50'];

function writeWorkflow(place, workers) {
  const folder = newFolder(place, 'workflow');
  writeFileSync(join(place, 'items.txt'), `${Array.from({ length: workers }, (_, at) => `item ${at}`).join('\n')}\n`);
  writeFileSync(join(folder, 'START.sh'), `echo '<fork-each in="items.txt">WORK.md</fork-each><join>END</join>'\n`);
  writeFileSync(join(folder, 'WORK.md'), 'Work on {{item}}. Then <goto>WORK.md</goto> or <result>done</result>.\n');
  writeFileSync(join(folder, 'END.sh'), 'echo "<result>joined</result>"\n');
  for (const turns of [TURNS_EACH, ENDLESS_TURNS]) {
    const again = '    - "I looked at it. <goto>WORK.md</goto>"\n'.repeat(turns - 1);
    writeFileSync(join(place, `${turns}.yaml`), `answers:\n  WORK:\n${again}    - <result>done</result>\n`);
  }
}

async function waitFor(page, condition) {
  while (!(await page.evaluate(condition))) await pause(50);
}

/** The times between frames by view, of the best of several rounds: other programs can only make them longer. */
async function measureViews(page, rounds) {
  const byView = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [view, row] of Object.entries(VIEWS)) {
      await page.click(`.tabs >> text="${view}"`);
      await waitFor(page, `document.querySelector("${row}") !== null`);
      const times = await page.evaluate(SCROLL);
      if (Math.max(...times) < Math.max(...(byView[view] ?? [Number.POSITIVE_INFINITY]))) byView[view] = times;
    }
  }
  return byView;
}

const toFigures = (title, byView) => [
  figure(`${title}: a frame while it is scrolled, median`, median(Object.values(byView).flat()), 'ms', 20),
  ...Object.entries(byView).flatMap(([view, times]) => [
    figure(`  ${view}: of a hundred frames, the slowest`, quantile(times, 0.99), 'ms', HITCH_MS),
  ]),
];

/** Scrolls the list up and down by leaps, one in each frame. */
const SCROLL = `new Promise((done) => {
  const box = document.querySelector('.virtual');
  const times = [];
  let last = performance.now();
  const step = (now) => {
    times.push(now - last);
    last = now;
    const [at, range] = [times.length, Math.max(1, box.scrollHeight - box.clientHeight)];
    box.scrollTop = (at % 2 === 0 ? at * 731 : at * 1733) % range;
    if (at <= ${FRAMES}) requestAnimationFrame(step);
    else done(times.slice(1));
  };
  requestAnimationFrame(step);
})`;
