// What the server takes: for the list of many runs, until a transition is in the stream, for many streams, and for the page.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { figure, inTurns, median, quantile } from './harness.mjs';

const RUNS = 2000;
const ROUNDS = 20;
const STREAMS = 50;
const STEPS = 200;

export async function measureServe(bench) {
  return [...(await measureList(bench)), ...(await measureStreams(bench)), ...measurePage(bench)];
}

/** The list of many runs, after it was read once. */
async function measureList({ command, workshop, quick }) {
  const place = workshop();
  const count = quick ? RUNS / 10 : RUNS;
  writeFileSync(join(newFolder(place, 'workflow'), 'START.sh'), "echo '<result>done</result>'\n");
  await finish(raymond(command, place, ['run', 'workflow', '--run-id', 'run0', '--quiet']));
  for (let at = 1; at < count; at += 1) copyRun(join(place, '.raymond'), 'run0', `run${at}`);
  const server = await startServer(command, place);
  try {
    const ask = async () => {
      const start = performance.now();
      const { total } = await server.get('/api/runs?limit=1000');
      if (total !== count) throw new Error(`${total} runs instead of ${count}`);
      return performance.now() - start;
    };
    const cold = await ask();
    const times = [];
    await ask();
    const cpuBefore = server.cpuMs();
    for (let round = 0; round < ROUNDS; round += 1) times.push(await ask());
    return [
      figure(`GET /api/runs with ${count} runs, warm`, median(times), 'ms', 50),
      figure('  in processor time of the server', (server.cpuMs() - cpuBefore) / ROUNDS, 'ms'),
      figure('  the first time', cold, 'ms'),
    ];
  } finally {
    await server.end();
  }
}

/** A run like another one, under another id. A copied state file has a checksum of another text, so it is read from the journal. */
function copyRun(root, from, to) {
  cpSync(join(root, 'runs', from), join(root, 'runs', to), { recursive: true });
  cpSync(join(root, 'state', `${from}.json`), join(root, 'state', `${to}.json`));
}

/** The same run without a server, with one stream and with many. */
async function measureStreams({ command, workshop, quick }) {
  const place = workshop();
  const steps = quick ? STEPS / 4 : STEPS;
  const folder = newFolder(place, 'workflow');
  writeFileSync(
    join(folder, 'START.sh'),
    `n=\${RAYMOND_INPUT:-0}; if [ "$n" -ge ${steps} ]; then echo "<result>done</result>"; else echo "<goto input=\\"$((n + 1))\\">START.sh</goto>"; fi\n`,
  );
  const all = await inTurns(quick ? 1 : 3, {
    alone: () => runWatched(command, place, 0),
    watched: () => runWatched(command, place, STREAMS),
  });
  const { alone, watched } = all;
  const delays = watched.flatMap((run) => run.delays);
  return [
    figure('a transition until it is in a stream, median', median(delays), 'ms', 200),
    figure('  of a hundred, the slowest', quantile(delays, 0.99), 'ms', 200),
    figure(
      `processor time of a run of ${steps} turns, with ${STREAMS} streams compared with none`,
      median(watched.map(({ runCpuMs }, round) => runCpuMs / alone[round].runCpuMs)),
      'times',
      1.15,
    ),
    figure(
      `processors that the server takes for ${STREAMS} streams`,
      median(watched.map(({ serverCpuMs, ms }) => serverCpuMs / ms)),
      'of one',
      1,
    ),
  ];
}

let runs = 0;

/** Starts a run while so many streams are open on it; what the run and the server took, and how late each step came. */
async function runWatched(command, place, streams) {
  runs += 1;
  const id = `watched${runs}`;
  const server = await startServer(command, place);
  const journal = join(place, '.raymond', 'runs', id, 'journal.jsonl');
  const child = raymond(command, place, ['run', 'workflow', '--run-id', id, '--quiet', '--max-iterations', '100000']);
  const ended = finish(child);
  while (!readable(journal)) await pause(5);
  const { projects } = await server.get('/api/projects');
  const path = `/api/runs/${projects[0].id}/${id}`;
  const written = watchJournal(journal);
  const arrived = new Map();
  const closed = new AbortController();
  const readers = Array.from({ length: streams }, (_, at) =>
    server.stream(`${path}/events`, closed.signal, (seq) => at === streams - 1 && arrived.set(seq, performance.now())),
  );
  const [cpuBefore, start] = [server.cpuMs(), performance.now()];
  const runCpuMs = await ended;
  const ms = performance.now() - start;
  const serverCpuMs = server.cpuMs() - cpuBefore;
  await pause(300);
  written.close();
  closed.abort();
  await Promise.allSettled(readers);
  await server.end();
  // What was written before the stream was open cannot have been in it sooner.
  const openedAt = Math.min(...arrived.values());
  const delays = [...written.times].flatMap(([seq, at]) =>
    arrived.has(seq) && at >= openedAt ? [arrived.get(seq) - at] : [],
  );
  return { runCpuMs, serverCpuMs, ms, delays };
}

/** When each step appeared in the journal. */
function watchJournal(file) {
  const times = new Map();
  let offset = readFileSync(file).length;
  const look = () => {
    const at = performance.now();
    const bytes = readFileSync(file);
    for (const [, seq] of bytes
      .subarray(offset)
      .toString('latin1')
      .matchAll(/"seq":(\d+)/g))
      if (!times.has(Number(seq))) times.set(Number(seq), at);
    offset = bytes.lastIndexOf('\n') + 1;
  };
  const watcher = watch(file, look);
  return { times, close: () => watcher.close() };
}

/** The page as a browser gets it, compressed. */
function measurePage({ command }) {
  const folder = join(command, '..', 'page');
  const bytes = readdirSync(folder).map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length);
  return [figure('the page, compressed', bytes.reduce((sum, each) => sum + each, 0) / 1000, 'kB', 150)];
}

export function newFolder(place, name) {
  mkdirSync(join(place, name), { recursive: true });
  return join(place, name);
}

function readable(file) {
  try {
    return readFileSync(file).length > 0;
  } catch {
    return false;
  }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function raymond(command, place, args, stdout = 'ignore') {
  return spawn(process.execPath, [command, ...args], { cwd: place, stdio: ['ignore', stdout, 'ignore'] });
}

/** Waits for the end of a process; what it and its children took of the processors, as far as the system tells. */
export async function finish(child, expected = 0) {
  let cpu = 0;
  const timer = setInterval(() => {
    cpu = Math.max(cpu, cpuOf(child.pid));
  }, 20);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  clearInterval(timer);
  if (code !== expected) throw new Error(`raymond ended with ${code}`);
  return cpu;
}

const CLOCK_TICK_MS = 10;

/** The processor time of a process by itself. */
function cpuOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
  } catch {
    return 0;
  }
}

export async function startServer(command, place) {
  const child = raymond(command, place, ['serve', '--root', '.'], 'pipe');
  const address = new URL(await new Promise((resolve) => createInterface(child.stdout).once('line', resolve)));
  const headers = { authorization: `Bearer ${address.searchParams.get('token')}` };
  return {
    address: address.href,
    origin: address.origin,
    cpuMs: () => cpuOf(child.pid),
    get: async (path) => (await fetch(address.origin + path, { headers })).json(),
    async stream(path, signal, onStep) {
      const response = await fetch(address.origin + path, { headers, signal });
      let text = '';
      for await (const chunk of response.body) {
        text += Buffer.from(chunk).toString('latin1');
        for (const [, seq] of text.matchAll(/^id: (\d+)$/gm)) onStep(Number(seq));
        text = text.slice(text.lastIndexOf('\n\n') + 1);
      }
    },
    end: () =>
      new Promise((resolve) => {
        child.on('exit', resolve);
        child.kill();
      }),
  };
}
