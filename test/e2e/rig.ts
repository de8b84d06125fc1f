import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, type TestContext } from 'vitest';
import { resumeRun } from '../../src/app/resume.ts';
import { runWorkflow } from '../../src/app/start.ts';
import type { Options } from '../../src/core/options/options.ts';
import type { Activity } from '../../src/core/run/activity.ts';
import type { Event, Printed } from '../../src/core/run/event.ts';
import { usdToMicros } from '../../src/core/run/ledger.ts';
import type { Run } from '../../src/core/run/run.ts';
import { addTokens, NO_TOKENS, type Tokens } from '../../src/core/run/tokens.ts';
import { endMarked } from '../../src/process/end.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { formatClaudeVersion } from '../../src/turns/claude/find-claude.ts';
import type { RunHandle } from '../../src/wiring/run-handle.ts';
import { PINNED, type Pinned } from '../claude-code/pinned.ts';
import { DEFAULT_TOKENS, type Reply } from '../messages-api/reply.ts';
import { type Logged, type MessagesApi, type Script, startMessagesApi } from '../messages-api/server.ts';

/** A workflow and the environment of its run. Its prompts say what the model answers: see `messages-api/orders.ts`. */
export interface RigSetup {
  /** By file name; those of a workflow beside it are called `../NAME/STATE.md`. */
  readonly states: Readonly<Record<string, string>>;
  /** The workflow to run, if it is not the folder of the states: a path seen from there, such as `../flow.yaml`. */
  readonly workflow?: string;
  /** The answers of the model to prompts that the workflow does not contain, such as reminders. */
  readonly script?: Script;
  readonly env?: Readonly<Record<string, string>>;
  readonly options?: Partial<Options>;
  /** Gets the activities of agents; without it they are not parsed. */
  readonly watch?: (activity: Activity) => void;
  /** Gets the texts of `<print>`s as they come. */
  readonly watchPrints?: (printed: Printed) => void;
}

/** A workflow with a real Claude Code and its own home, working directory and Messages API. */
export interface Rig {
  readonly api: MessagesApi;
  readonly cwd: string;
  /** The environment of its runs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** All events of the run so far, across resumes. */
  readonly events: readonly Event[];
  start(): Promise<RunHandle>;
  /**
   * Starts the run in a process of its own, by the built command, and kills that process once the model was asked this, and
   * once this file is there, if one is given.
   */
  startAndKill(prompt: string | RegExp, file?: string): Promise<void>;
  /** Does the same with a resume of the last run. */
  resumeAndKill(prompt: string | RegExp): Promise<void>;
  resume(options?: Partial<Options>): Promise<RunHandle>;
  /** Waits for the first event of a kind; it may be there already. */
  waitForEvent<K extends Event['kind']>(kind: K): Promise<EventOf<K>>;
  /** Events of a kind, in order. */
  eventsOf<K extends Event['kind']>(kind: K): readonly EventOf<K>[];
}

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');

type EventOf<K extends Event['kind']> = Extract<Event, { kind: K }>;

/** Describes something for each version of Claude Code, all tests at the same time. */
export function withEachClaude(about: string, tests: (pinned: Pinned) => void): void {
  for (const pinned of PINNED) {
    const name = `${about}, with Claude Code ${formatClaudeVersion(pinned.version)}`;
    const title = pinned.isInstalled ? name : `${name} (skipped: node test/claude-code/install.mjs installs it)`;
    describe.skipIf(!pinned.isInstalled).concurrent(title, { timeout: 200_000 }, () => tests(pinned));
  }
}

/** Creates everything a run needs; it is removed after the test, which fails if a process is left. */
export async function setUp(
  { onTestFinished }: TestContext,
  { path }: Pinned,
  { states, workflow: name = '.', script, env = {}, options = {}, watch, watchPrints }: RigSetup,
): Promise<Rig> {
  const root = await mkdtemp(join(tmpdir(), 'raymond-e2e-'));
  const folder = async (name: string): Promise<string> => {
    await mkdir(join(root, name));
    return join(root, name);
  };
  const [stateFolder, cwd, home] = [await folder('workflow'), await folder('work'), await folder('home')];
  const workflow = join(stateFolder, name);
  const temporary = await folder('tmp');
  for (const [file, text] of Object.entries(states)) {
    await mkdir(dirname(join(stateFolder, file)), { recursive: true });
    await writeFile(join(stateFolder, file), text);
  }
  const api = await startMessagesApi(script);
  const events: Event[] = [];
  const watchers = new Set<() => void>();
  let id: string | undefined;
  const underWay = new Set<RunHandle>();
  const follow = (running: RunHandle): RunHandle => {
    id = running.id;
    underWay.add(running);
    const over = (): boolean => underWay.delete(running);
    running.finished.then(over, over);
    return running;
  };
  const place = {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TMPDIR: temporary,
      CLAUDE_CODE_TMPDIR: temporary,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'made-up',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // A repository or a `.raymond` above the temporary folder is not the run's.
      GIT_CEILING_DIRECTORIES: tmpdir(),
      ...env,
    },
    observe(event: Event) {
      events.push(event);
      for (const look of watchers) look();
    },
    ...(watch !== undefined && { watch }),
    ...(watchPrints !== undefined && { watchPrints }),
  };

  onTestFinished(async () => {
    // Only a test that failed leaves a run under way.
    for (const running of underWay) {
      running.kill();
      await running.finished.catch(() => {});
    }
    const left = id === undefined ? [] : await findMarkedProcesses(`${id}/`);
    if (left.length > 0) await endMarked(`${id}/`, { graceMs: 0 });
    await api.close();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
    expect(left).toStrictEqual([]);
  });

  const killWhenAsked = async (prompt: string | RegExp, args: readonly string[], file?: string): Promise<void> => {
    const child = spawn(process.execPath, [CLI, ...args], { cwd, env: place.env, stdio: 'ignore' });
    const exited = once(child, 'exit');
    const isAsked = (asked: string): boolean =>
      typeof prompt === 'string' ? asked.startsWith(prompt) : prompt.test(asked);
    const isThere = (): boolean => file === undefined || existsSync(join(cwd, file));
    while (!api.requests.some((request) => isAsked(request.prompt)) || !isThere()) {
      if (child.exitCode !== null) throw new Error(`the run ended before the model was asked: ${prompt}`);
      await delay(20);
    }
    child.kill('SIGKILL');
    await exited;
  };

  return {
    api,
    cwd,
    env: place.env,
    events,
    start: async () =>
      follow(await runWorkflow(workflow, { ...place, options: { parallel: 3, ...options, claude: path } })),
    startAndKill: (prompt, file) =>
      killWhenAsked(
        prompt,
        ['run', workflow, '--claude', path, '--parallel', '3', ...(options.editWorkflows ? ['--edit-workflows'] : [])],
        file,
      ),
    resumeAndKill: (prompt) => killWhenAsked(prompt, ['resume', 'last']),
    resume: async (changed = {}) => follow(await resumeRun(id ?? 'last', { ...place, options: changed })),
    waitForEvent: (kind) =>
      new Promise((done) => {
        const look = (): void => {
          const found = events.find((event): event is EventOf<typeof kind> => event.kind === kind);
          if (found === undefined) return;
          watchers.delete(look);
          done(found);
        };
        watchers.add(look);
        look();
      }),
    eventsOf: (kind) => events.filter((event): event is EventOf<typeof kind> => event.kind === kind),
  };
}

/** Runs a workflow until nothing is due any more. */
export async function runToEnd(rig: Rig): Promise<Run> {
  return (await rig.start()).finished;
}

/** Resumes the run until nothing is due any more. */
export async function resumeToEnd(rig: Rig, options?: Partial<Options>): Promise<Run> {
  return (await rig.resume(options)).finished;
}

/** An answer of the model that is only text. */
export const textReply = (text: string): Reply => ({ blocks: [{ type: 'text', text }] });

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g;
const ORDERS = /\s*«[\s\S]*»/;

/** The conversation up to a prompt, as the API got it, without reminders and orders. */
export function conversation({ api }: Rig, prompt: string): readonly string[] {
  const request = api.requests.find((each) => each.prompt.startsWith(prompt));
  if (request === undefined) throw new Error(`the API was never asked: ${prompt}`);
  return request.messages
    .filter(({ role }) => role !== 'system')
    .flatMap(({ role, content }) => {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      const mark = role === 'user' ? '>' : '<';
      return blocks
        .map(({ type, text = '', name }) => (type === 'text' ? text : `[${name ?? type}]`))
        .map((text) => text.replace(REMINDER, '').replace(ORDERS, '').trim())
        .filter((text) => text !== '')
        .map((text) => `${mark} ${text}`);
    });
}

/** The charges of the API for all requests, or for some, in micro-dollars. */
export const charged = ({ api }: Rig, which: (request: Logged) => boolean = () => true): number =>
  usdToMicros(api.requests.filter(which).reduce((sum, { chargedUsd }) => sum + chargedUsd, 0));

/** The tokens of all answers of the API that did not fail. */
export const served = ({ api }: Rig): Tokens =>
  api.requests
    .filter(({ reply }) => reply.fail === undefined)
    .map(({ reply: { usage = DEFAULT_TOKENS } }) => {
      const { input, output, cacheRead = 0, cacheWrite = 0, cacheWriteLong = 0 } = usage;
      return { input, output, cacheRead, cacheWrite: cacheWrite + cacheWriteLong };
    })
    .reduce(addTokens, NO_TOKENS);
