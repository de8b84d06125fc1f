// What a <goto> and a <reset> between two prompts take on top of the API's own time: from the end of an answer to the next request. Needs
// the Claude Code of the tests (node test/claude-code/install.mjs) and a scripted API on this machine; without the first, nothing is measured.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { figure, median, quantile } from './harness.mjs';

const VERSIONS = ['197', '325'];
const WARM_UP = 2;
/** How long the API takes in front of a <reset>: Claude Code is started ahead only while a turn is at work. */
const ANSWER_MS = 2000;
const GOTO = { tag: 'goto', frontmatter: '', delayMs: 0 };
const RESET = {
  tag: 'reset',
  frontmatter: '---\nallowed_transitions: [{ tag: reset, target: START }, { tag: reset, target: LAST }]\n---\n',
  delayMs: ANSWER_MS,
};

/** The Claude Code that the tests have installed. */
export const pathOfClaude = (version) =>
  fileURLToPath(new URL(`../test/claude-code/node_modules/claude-code-${version}/bin/claude.exe`, import.meta.url));

export async function measureGotos({ command, workshop, quick }) {
  const figures = [];
  for (const version of VERSIONS) {
    const claude = pathOfClaude(version);
    if (!existsSync(claude)) continue;
    const name = `2.1.${version}`;
    const gotos = quick ? 6 : 20;
    const run = (transition, keepOpen) => (place, env) =>
      end(
        process.execPath,
        [command, 'run', newWorkflow(place, transition), '--claude', claude, '--keep-open', keepOpen, '--quiet'],
        {
          cwd: place,
          env,
        },
      );
    const open = await measure(workshop(), 2 * gotos, GOTO, run(GOTO, '5m'));
    const cold = await measure(workshop(), gotos, GOTO, run(GOTO, '0'));
    const loop = await measure(workshop(), gotos, GOTO, (place, env) => loopOf(claude, gotos, place, env));
    const ahead = await measure(workshop(), gotos, RESET, run(RESET, '5m'));
    const fresh = await measure(workshop(), gotos, RESET, run(RESET, '0'));
    figures.push(
      figure(`a goto in an open conversation, on top of the API, ${name}`, median(open), 'ms', 80),
      figure(`the same, the fastest tenth, ${name}`, quantile(open, 0.1), 'ms'),
      figure(`the same with --keep-open 0, ${name}`, median(cold), 'ms'),
      figure(`the same in a plain loop of \`claude -p --resume\`, ${name}`, median(loop), 'ms'),
      figure(`a reset with Claude Code started ahead, on top of the API, ${name}`, median(ahead), 'ms'),
      figure(`the same reset with --keep-open 0, ${name}`, median(fresh), 'ms'),
    );
  }
  return figures;
}

/** The environment of a Claude Code that talks to this API and has a home of its own. */
export const claudeEnv = (home, url) => ({
  PATH: process.env.PATH,
  HOME: home,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'made-up',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
});

/** The times from the end of each answer to the next request. */
async function measure(place, count, { tag, delayMs }, work) {
  const textOf = (asked) =>
    asked === count ? '<result>done</result>' : `<${tag}>${asked === count - 1 ? 'LAST' : 'START'}</${tag}>`;
  const api = await startApi(textOf, delayMs);
  const home = join(place, 'home');
  mkdirSync(home);
  const env = claudeEnv(home, api.url);
  try {
    await work(place, env);
  } finally {
    api.close();
  }
  if (api.gaps.length < count - 1) throw new Error(`the API was asked ${api.gaps.length + 1} times, not ${count}`);
  return api.gaps.slice(WARM_UP);
}

function newWorkflow(place, { frontmatter }) {
  const folder = join(place, 'workflow');
  mkdirSync(folder);
  writeFileSync(join(folder, 'START.md'), `${frontmatter}Continue.\n`);
  writeFileSync(join(folder, 'LAST.md'), 'Continue.\n');
  return folder;
}

async function loopOf(claude, count, place, env) {
  const session = randomUUID();
  for (let turn = 0; turn < count; turn += 1) {
    const conversation = turn === 0 ? ['--session-id', session] : ['--resume', session];
    await end(claude, ['-p', 'Continue.', '--output-format', 'stream-json', '--verbose', ...conversation], {
      cwd: place,
      env,
    });
  }
}

function end(file, args, { cwd, env }) {
  return new Promise((done, fail) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', fail);
    child.once('exit', (code) => (code === 0 ? done() : fail(new Error(`${file} ended with ${code}`))));
  });
}

/** An API that answers the nth request with the text of n and of its last message, after a time. */
export async function startApi(textOf, delayMs = 0) {
  const gaps = [];
  let asked = 0;
  let answeredAt = null;
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      if (request.method === 'HEAD') return response.writeHead(200).end();
      if (!request.url.includes('/v1/messages') || request.url.includes('count_tokens'))
        return response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1}');
      if (answeredAt !== null) gaps.push(performance.now() - answeredAt);
      asked += 1;
      const { model, messages } = JSON.parse(Buffer.concat(chunks).toString());
      const number = asked;
      const text = textOf(number, JSON.stringify(messages.at(-1)));
      if (delayMs > 0) await sleep(delayMs);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of answer(model, number, text))
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end(() => {
        answeredAt = performance.now();
      });
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, gaps, close };
}

function answer(model, number, text) {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model, content: [], usage };
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}
