#!/usr/bin/env node
/*
 * A fake Claude Code that misbehaves. The prompt says how, in a line `@calls {"id", "calls"}`: the first
 * call that finds the line does the first of them, the next call the second, and so on; after the last it behaves. A
 * prompt without orders (a reminder, "continue") continues with those in its conversation. fake-prompt.ts writes the line.
 *
 * Like the real one it keeps its conversations under $HOME/.claude/projects, refuses to open one twice and to resume
 * one that is not there. With `--input-format stream-json` it takes one prompt after the other; each counts as a call. Every
 * call leaves a line in $HOME/calls.jsonl.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const { HOME = '' } = process.env;
const args = process.argv.slice(2);
const after = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const versionFile = join(import.meta.dirname, 'version');
const version = fs.readFileSync(versionFile, 'utf8').trim();

if (args.includes('--version')) {
  console.log(`${version} (Claude Code)`);
  process.exit(0);
}

const resumed = after('--resume');
const session = after('--session-id') ?? resumed ?? '';
const folder = join(HOME, '.claude', 'projects', process.cwd().replace(/[^a-zA-Z0-9]/g, '-'));
const fileOf = (id) => join(folder, `${id}.jsonl`);
const takesSeveral = args.includes('--input-format');
let prompt = '';
let uuid;
let history = [];
let saved = 0;
let spent = 0;
let messages = 0;
let isOpen = false;
if (!takesSeveral) await answer(fs.readFileSync(0, 'utf8'));
else {
  for await (const line of createInterface({ input: process.stdin })) {
    const told = JSON.parse(line);
    await answer(told.message.content[0].text, told.uuid);
  }
}
leave(0);

async function answer(text, id) {
  prompt = text;
  uuid = id;
  record({ args, prompt: prompt.slice(0, 2_000), size: Buffer.byteLength(prompt), env: process.env });
  if (prompt.trim() === '') process.exit(0);
  if (!isOpen) open();
  history = remembered();
  remember({ type: 'user', uuid, message: { role: 'user', content: prompt } });
  if (prompt.startsWith('/')) return STEPS().result({ result: `Unknown command: ${prompt.split(/\s/, 1)}` });
  const act = nextAct();
  for (const step of act) await perform(step);
  // Without a result nobody would send another prompt.
  if (!act.some((step) => 'result' in step || 'vast' in step)) leave(0);
}

function open() {
  isOpen = true;
  fs.mkdirSync(folder, { recursive: true });
  if (resumed !== undefined && !fs.existsSync(fileOf(resumed))) notFound(resumed);
  if (resumed === undefined && fs.existsSync(fileOf(session))) {
    refuse(`Error: Session ID ${session} is already in use.`);
  }
  if (resumed !== undefined && resumed !== session) fs.copyFileSync(fileOf(resumed), fileOf(session));
  saved = remembered().findLast(({ type }) => type === 'cost-state')?.totalCostUSD ?? 0;
}

/** The steps of a call and what they do. */
function STEPS() {
  return {
    init: (more) =>
      line({
        type: 'system',
        subtype: 'init',
        session_id: session,
        model: 'opus',
        claude_code_version: version,
        ...more,
      }),
    assistant({ text, ...more }) {
      spent += 0.01;
      messages += 1;
      const message = { id: `msg_${process.pid}_${messages}`, role: 'assistant', model: 'opus' };
      const content = [{ type: 'text', text }];
      remember({ type: 'assistant', message: { ...message, content } });
      line({ type: 'assistant', message: { ...message, content, usage: {} }, parent_tool_use_id: null, ...more });
    },
    /** The message that Claude Code makes up when it got none. */
    synthetic: ({ text, error }) =>
      line({ type: 'assistant', message: { model: '<synthetic>', content: [{ type: 'text', text }] }, error }),
    result({ without = [], ...more }) {
      const result = {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: 'done',
        stop_reason: 'end_turn',
        session_id: session,
        total_cost_usd: saved + spent,
        permission_denials: [],
        terminal_reason: 'completed',
        ...more,
      };
      line(Object.fromEntries(Object.entries(result).filter(([key]) => !without.includes(key))));
    },
    line,
    raw: (text) => write(Buffer.from(text)),
    bytes: (base64) => write(Buffer.from(base64, 'base64')),
    /** A tool result with so many bytes in one line. */
    huge: (size) => line({ type: 'user', message: { content: [{ type: 'tool_result', content: 'x'.repeat(size) }] } }),
    /** A tool call whose input is a list in a list in a list. */
    nested(depth) {
      const input = '['.repeat(depth) + ']'.repeat(depth);
      const content = `[{"type":"tool_use","id":"t","name":"Bash","input":${input}}]`;
      write(Buffer.from(`{"type":"assistant","message":{"id":"m","model":"opus","content":${content}}}\n`));
    },
    /** An answer of so many bytes. */
    vast(size) {
      const text = `<result>${'x'.repeat(size)}</result>`;
      STEPS().assistant({ text });
      STEPS().result({ result: text });
    },
    /** One byte after another, as slowly as told. */
    async drip({ text, everyMs }) {
      for (const byte of Buffer.from(text)) {
        write(Buffer.of(byte));
        await sleep(everyMs);
      }
    },
    stderr: (text) => fs.writeSync(2, text),
    /** Never stops, but says nothing that anybody asked for. */
    async mutter({ everyMs }) {
      for (;;) {
        fs.writeSync(2, 'still here\n');
        await sleep(everyMs);
      }
    },
    /** Stays deaf to polite requests from here on. */
    deaf() {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
    },
    hang: () => sleep(120_000),
    die(signal) {
      process.kill(process.pid, signal);
      return sleep(120_000);
    },
    /** Takes everybody along: the wrapper above us leads the group. */
    dieTogether() {
      process.kill(-process.ppid, 'SIGKILL');
      return sleep(120_000);
    },
    /** Says that a call of the API is tried again, and again. */
    async retry({ times, everyMs }) {
      for (let attempt = 1; attempt <= times; attempt += 1) {
        line({
          type: 'system',
          subtype: 'api_retry',
          attempt,
          max_retries: 10,
          error: 'overloaded',
          error_status: 529,
        });
        await sleep(everyMs);
      }
    },
    /** Leaves a child that keeps our output open. */
    async child({ ownSession = false, deaf = false }) {
      const ready = join(HOME, `child-${process.pid}`);
      const script = `${deaf ? "trap '' TERM INT HUP;" : ''} : >"$1"; i=0; while [ $i -lt 120 ]; do sleep 1; i=$((i+1)); done`;
      spawn('/bin/sh', ['-c', script, 'sh', ready], { stdio: 'inherit', detached: ownSession }).unref();
      while (!fs.existsSync(ready)) await sleep(5);
    },
    update: (to) => fs.writeFileSync(versionFile, to),
    /** Loses a conversation: this one. */
    forget: () => fs.rmSync(fileOf(session)),
    remove: (path) => fs.rmSync(path, { recursive: true, force: true }),
    /** Where our output goes, as the system knows it. */
    removeTurn: () => fs.rmSync(dirname(fs.readlinkSync('/proc/self/fd/1')), { recursive: true }),
    /** Waits until Raymond has started Claude Code ahead, or until that is gone. */
    async ahead(isThere) {
      while (startedAhead().length > 0 !== isThere) await sleep(5);
    },
    pause: (ms) => sleep(ms),
    /** Waits for a test that has come so far. */
    async until(name) {
      while (!fs.existsSync(join(HOME, name))) await sleep(5);
    },
    touch: (name) => fs.writeFileSync(name, ''),
    /** Tells a test that it has come so far. */
    mark: (name) => fs.writeFileSync(join(HOME, name), ''),
    exit: (code) => leave(code),
  };
}

async function perform(step) {
  for (const [name, orders] of Object.entries(step)) await STEPS()[name](orders);
}

/** The steps of this call; taking a number is atomic, because several calls may run at once. */
function nextAct() {
  const told = [...history, { message: { content: prompt } }].map(({ message }) => message?.content);
  const orders = told.findLast((content) => typeof content === 'string' && /^@calls /m.test(content));
  if (orders === undefined) return behave();
  const { id, calls } = JSON.parse(/^@calls (.*)$/m.exec(orders)[1]);
  for (let number = 0; ; number += 1) {
    try {
      fs.mkdirSync(join(HOME, `call-${id}-${number}`));
      return calls[number] ?? behave();
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

function startedAhead() {
  const runs = join('.raymond', 'runs');
  return fs.readdirSync(runs).flatMap((run) => {
    const conversations = join(runs, run, 'conversations');
    const names = fs.existsSync(conversations) ? fs.readdirSync(conversations) : [];
    return names.filter((name) => name.endsWith('.ahead') && fs.existsSync(join(conversations, name, 'started')));
  });
}

function behave() {
  const text = '<result>well behaved</result>';
  return [{ init: {} }, { assistant: { text } }, { result: { result: text } }];
}

function notFound(id) {
  const errors = [`No conversation found with session ID: ${id}`];
  line({ type: 'result', subtype: 'error_during_execution', is_error: true, session_id: session, errors });
  process.exit(1);
}

function refuse(words) {
  fs.writeSync(2, `${words}\n`);
  process.exit(1);
}

function remembered() {
  const text = fs.existsSync(fileOf(session)) ? fs.readFileSync(fileOf(session), 'utf8') : '';
  return text
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each));
}

function remember(entry) {
  fs.appendFileSync(fileOf(session), `${JSON.stringify(entry)}\n`);
}

function record(call) {
  fs.appendFileSync(join(HOME, 'calls.jsonl'), `${JSON.stringify(call)}\n`);
}

function leave(code) {
  if (fs.existsSync(fileOf(session))) remember({ type: 'cost-state', totalCostUSD: saved + spent });
  process.exit(code);
}

function line(event) {
  write(Buffer.from(`${JSON.stringify(event)}\n`));
}

function write(bytes) {
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(1, bytes, at);
}

function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
