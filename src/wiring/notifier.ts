import { type ChildProcess, spawn } from 'node:child_process';
import type { Event } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { createEventDocument } from '../documents/event-document.ts';
import type { NotificationDocument } from '../documents/types.ts';
import { errorMessageOf } from '../errors.ts';
import { formatJson } from '../language/text/json.ts';
import { AgentLabels } from '../render/agent-labels.ts';
import { formatEvent } from '../render/format.ts';
import { formatAnswerCommand } from '../render/questions.ts';
import { sanitizeShortLine } from '../render/sanitize.ts';

/** Why somebody is notified. */
type NoticeReason = 'question' | 'pause' | 'failure' | 'limit' | 'end';

interface Notice {
  readonly reason: NoticeReason;
  readonly event: Event;
  readonly message: string;
}

/** How a notifier runs its command, and whom it tells that the command failed. */
export interface NotifierContext {
  readonly run: Run;
  readonly command: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Called at the first failure only. */
  readonly warn: (message: string) => void;
  /** How long the command may take. */
  readonly limitMs?: number;
}

const LIMIT_MS = 10_000;
/** More things in one call are only counted. */
const MAX_NOTICES = 100;
const MAX_MESSAGE_CHARS = 500;

/**
 * Runs a command of the user when something happens that a person should know. Never more than one at a time: what
 * happens while it runs is told by the next one, all at once. The run does not wait for it.
 */
export class Notifier {
  private readonly context: NotifierContext;
  private readonly labels: AgentLabels;
  private waiting: Notice[] = [];
  private leftOut = 0;
  private latestLimitMs = 0;
  private current: Promise<void> | null = null;
  private child: ChildProcess | null = null;
  private hasFailed = false;

  constructor(context: NotifierContext) {
    this.context = context;
    this.labels = new AgentLabels(context.run.agents);
  }

  /** Takes what has happened. */
  observe(events: readonly Event[]): void {
    for (const event of events) {
      this.labels.observe(event);
      const reason = this.findReason(event);
      if (reason === null) continue;
      const message = formatEvent(event, this.labels.of) ?? event.kind;
      if (this.waiting.length < MAX_NOTICES) this.waiting.push({ reason, event, message });
      else this.leftOut += 1;
    }
    if (this.waiting.length > 0) this.current ??= this.runAll();
  }

  /** Waits until everything is told, but not long. */
  async close(graceMs = this.context.limitMs ?? LIMIT_MS): Promise<void> {
    const timer = setTimeout(() => this.end(), graceMs);
    await this.current;
    clearTimeout(timer);
  }

  private findReason(event: Event): NoticeReason | null {
    switch (event.kind) {
      case 'asked':
        return 'question';
      case 'agent_paused':
        return 'pause';
      case 'agent_failed':
        return 'failure';
      case 'visit_limit':
        return 'limit';
      case 'run_stopping':
        if (event.stop.kind === 'workspace') return 'pause';
        return event.stop.kind === 'stopped' || event.stop.kind === 'interrupted' ? null : 'limit';
      case 'sleeping':
        // All agents meet the same limit.
        if (event.why !== 'usage_limit' || event.untilMs <= this.latestLimitMs) return null;
        this.latestLimitMs = event.untilMs;
        return 'limit';
      case 'run_ended':
        return 'end';
      default:
        return null;
    }
  }

  private async runAll(): Promise<void> {
    while (this.waiting.length > 0) {
      // Events of the same moment share one notification.
      await new Promise((resolve) => setImmediate(resolve));
      const document = this.createDocument();
      this.waiting = [];
      this.leftOut = 0;
      const problem = await this.call(`${formatJson(document)}\n`);
      if (problem === null || this.hasFailed) continue;
      this.hasFailed = true;
      this.context.warn(`the command of --notify failed: ${problem}; the run continues`);
    }
    this.current = null;
  }

  private createDocument(): NotificationDocument {
    const { run } = this.context;
    const messages = this.waiting.map(({ message }) => sanitizeShortLine(message, MAX_MESSAGE_CHARS));
    return {
      run_id: run.id,
      run_name: run.name,
      folder: this.context.cwd,
      message: [...messages, ...(this.leftOut > 0 ? [`… and ${this.leftOut} more`] : [])].join('\n'),
      notices: this.waiting.map(({ reason, event }) => ({
        reason,
        ...createEventDocument(event),
        ...(event.kind === 'asked' && { answer_command: formatAnswerCommand(run.id, event.ask, event.question) }),
      })),
      left_out: this.leftOut,
    };
  }

  /** Runs the command once; says what went wrong, or null. It leads its own process group, so that nothing of it is left. */
  private call(input: string): Promise<string | null> {
    const { command, cwd, env, limitMs = LIMIT_MS } = this.context;
    return new Promise((resolve) => {
      const child = spawn(command, {
        cwd,
        env,
        shell: true,
        detached: process.platform !== 'win32',
        windowsHide: true,
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      this.child = child;
      let stderr = '';
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        this.end();
      }, limitMs);
      const finish = (problem: string | null): void => {
        clearTimeout(timer);
        this.child = null;
        child.stderr.destroy();
        resolve(problem);
      };
      child.stderr.on('data', (chunk: Buffer) => {
        if (stderr.length < MAX_MESSAGE_CHARS) stderr += chunk.toString();
      });
      // It need not read what it gets.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      child.once('error', (error) => finish(errorMessageOf(error)));
      child.once('exit', (code, signal) => {
        const said = sanitizeShortLine(stderr, MAX_MESSAGE_CHARS);
        const outcome = code === null ? `ended by ${signal}` : `exit code ${code}`;
        if (isLate) finish(`it took longer than ${limitMs / 1000} s and was ended`);
        else finish(code === 0 ? null : `${outcome}${said === '' ? '' : `, ${said}`}`);
      });
    });
  }

  private end(): void {
    const { pid } = this.child ?? {};
    if (pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }
}
