import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { SessionUse } from '../../../src/core/run/agent.ts';
import { learnPrices, type Prices } from '../../../src/turns/claude/cost.ts';
import { type ClaudeEvent, parseClaudeLine } from '../../../src/turns/claude/event.ts';
import { type ClaudeCall, claudeArguments, escapePrompt } from '../../../src/turns/claude/invocation.ts';
import { type ClaudeOutcome, judgeClaudeTurn, type TurnEndCause } from '../../../src/turns/claude/outcome.ts';
import {
  claudeConfigDir,
  findSessionFile,
  hasMessages,
  readSavedTotalUsd,
} from '../../../src/turns/claude/session-file.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, modelCosts, type Transcript } from '../../../src/turns/claude/transcript.ts';
import { claudeEnvironment } from '../../../src/turns/environment.ts';
import type { Pinned } from '../../claude-code/pinned.ts';
import { type MessagesApi, startMessagesApi } from '../../messages-api/server.ts';

/** The parts of a turn that differ from the defaults. */
export interface TurnRequest extends Partial<Omit<ClaudeCall, 'settings'>> {
  readonly prompt: string;
  readonly settings?: Partial<ClaudeCall['settings']>;
  readonly env?: Readonly<Record<string, string>>;
  /** Another folder to work in. */
  readonly cwd?: string;
  /** Kills the process as soon as it has printed this event. */
  readonly killAt?: (event: ClaudeEvent) => boolean;
}

/** A finished turn and its outcome. */
export interface TurnResult {
  readonly outcome: ClaudeOutcome;
  readonly transcript: Transcript;
  readonly exitCode: number | null;
  readonly stderr: string;
}

/** A real Claude Code with its own home, folder and scripted API. */
export interface Rig {
  readonly api: MessagesApi;
  readonly cwd: string;
  readonly home: string;
  runTurn(request: TurnRequest): Promise<TurnResult>;
  close(): Promise<void>;
}

export const fresh = (): SessionUse => ({ kind: 'new', id: randomUUID() });
export const resume = ({ id }: SessionUse): SessionUse => ({ kind: 'resume', id });
export const fork = ({ id }: SessionUse): SessionUse => ({ kind: 'fork', id: randomUUID(), from: id });

/** A conversation with this text is refused: newer versions ask once more in other words. */
export const REFUSED = '(unspeakable)';

const NO_SETTINGS = {
  timeoutMs: null,
  permissionMode: null,
  allowedTools: null,
  disallowedTools: null,
  appendSystemPrompt: null,
};

export async function setUp({ path, version }: Pinned): Promise<Rig> {
  const root = await mkdtemp(join(tmpdir(), 'raymond-claude-'));
  const cwd = join(root, 'work');
  const home = join(root, 'home');
  await mkdir(cwd);
  await mkdir(home);
  const temporary = await mkdtemp(join(root, 'tmp-'));
  const api = await startMessagesApi(({ messages }) =>
    JSON.stringify(messages).includes(REFUSED) ? { blocks: [], fail: { kind: 'refusal' } } : undefined,
  );
  const running = new Set<number>();
  let prices: Prices = {};
  const ours = {
    PATH: process.env.PATH,
    HOME: home,
    // Claude Code leaves sockets and outputs of tools there.
    TMPDIR: temporary,
    CLAUDE_CODE_TMPDIR: temporary,
    RAYMOND_SECRET: 'not for Claude Code',
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'made-up',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
  };

  async function runTurn({
    prompt,
    settings,
    env,
    killAt,
    cwd: folder = cwd,
    ...call
  }: TurnRequest): Promise<TurnResult> {
    const session = call.session ?? fresh();
    const from = session.kind === 'fork' ? session.from : session.id;
    const configDir = claudeConfigDir({ ...ours, ...env });
    const before = await findSessionFile(configDir, folder, from);
    const savedUsd = before === null ? null : await readSavedTotalUsd(before);
    const args = claudeArguments({
      model: null,
      effort: null,
      permissionMode: 'acceptEdits',
      skipPermissions: false,
      budgetMicros: null,
      folders: [],
      version,
      ...call,
      session,
      settings: { ...NO_SETTINGS, ...settings },
    });
    const child = spawn(path, args, { cwd: folder, env: claudeEnvironment({ ...ours, ...env }), detached: true });
    const pid = child.pid ?? 0;
    running.add(pid);
    child.stdin.on('error', () => {});
    child.stdin.end(escapePrompt(prompt));
    let stderr = '';
    child.stderr.on('data', (piece) => {
      stderr += piece;
    });
    const closed = once(child, 'close');
    let transcript = EMPTY_TRANSCRIPT;
    let ending: TurnEndCause = 'exited';
    for await (const line of createInterface({ input: child.stdout })) {
      const event = parseClaudeLine(line);
      transcript = addClaudeEvent(transcript, event);
      if (killAt?.(event) && ending === 'exited') {
        ending = 'hung';
        process.kill(-pid, 'SIGKILL');
      }
    }
    const [exitCode] = (await closed) as [number | null];
    running.delete(pid);
    const file = await findSessionFile(configDir, folder, session.id);
    const outcome = judgeClaudeTurn({
      transcript,
      endCause: ending,
      exitCode,
      stderr,
      timeoutMessage: '',
      endedAtMs: Date.now(),
      outputLost: false,
      priorLimits: 0,
      resumable: file !== null && (await hasMessages(file)),
      costBaseline: { savedUsd, prices },
    });
    prices = learnPrices(prices, modelCosts(transcript));
    return { outcome, transcript, exitCode, stderr };
  }

  async function close(): Promise<void> {
    for (const pid of running) process.kill(-pid, 'SIGKILL');
    await api.close();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }

  return { api, cwd, home, runTurn, close };
}
