import { setTimeout as delay } from 'node:timers/promises';
import type {
  Connection,
  ConnectionEvents,
  ConversationProtocol,
  EarlyStartProtocol,
  KeyedCommand,
  PlannedTurn,
} from '../../conversations/protocol.ts';
import type { TurnLocator } from '../../conversations/records.ts';
import { isSandboxed } from '../../core/options/sandbox-options.ts';
import type { SessionUse } from '../../core/run/agent.ts';
import type { PromptTurn } from '../../core/turns/due.ts';
import type { NotStarted, ProcessRef } from '../../process/command.ts';
import { toNotStarted } from '../../process/start.ts';
import { hasClaudeDefaults } from '../environment.ts';
import { answeredSignal } from '../signals.ts';
import type { TurnContext } from '../turn-context.ts';
import { buildClaudeCommand } from './command.ts';
import { type AskedTurn, connectClaude } from './connection.ts';
import { writeCostBaseline } from './cost.ts';
import type { ClaudeCode } from './find-claude.ts';
import { type EndedTurnProcess, type ReadTurn, recoverTurn } from './recover.ts';
import { isSafeEarlyStart, readStartSnapshot } from './start-checks.ts';

/** Claude Codes that start at the same moment fight over one settings file. */
const START_GAP_MS = 100;
const REFUSED =
  'this Claude Code cannot stay open between two prompts, so that it is started for each; `--keep-open 0` asks for that';

/** Holds conversations with Claude Code: its sessions have the ids that we give them. */
export class ClaudeProtocol implements ConversationProtocol<AskedTurn, EndedTurnProcess, ReadTurn> {
  readonly choosesSession = false;
  /** Resolves when one more process may be started. */
  readonly waitForStartSlot = stagger(START_GAP_MS);
  readonly early: EarlyStartProtocol<AskedTurn, EndedTurnProcess> = {
    answer: (turn, text) =>
      answeredSignal(this.context, turn, this.context.clock.now(), { text, cost: null, denials: [] }),
    plan: (turn, session) => this.plan(turn, session),
    isSafe: ({ command }) => isSafeEarlyStart(command.cwd, this.configDir),
    readSnapshot: ({ command: { cwd, env } }) => readStartSnapshot(cwd, env, this.configDir, this.context.clock.now()),
    waitForStartSlot: this.waitForStartSlot,
    open: (planned, ref, events) => this.start(planned, ref, events, true),
  };
  private readonly context: TurnContext;
  /** The folder in which Claude Code keeps its sessions. */
  private readonly configDir: string;
  private readonly findClaude: () => Promise<ClaudeCode>;
  private isRefused = false;

  constructor(context: TurnContext, configDir: string, findClaude: () => Promise<ClaudeCode>) {
    this.context = context;
    this.configDir = configDir;
    this.findClaude = findClaude;
  }

  /** True if a process with this command can stay open. With other settings Claude Code may continue by itself after its answer. */
  canStayOpen({ env }: KeyedCommand): boolean {
    const { keepOpenMs } = this.context.options;
    return (keepOpenMs ?? 0) > 0 && process.platform !== 'win32' && !this.isRefused && hasClaudeDefaults(env);
  }

  async open(asked: AskedTurn, ref: ProcessRef, events: ConnectionEvents): Promise<Connected> {
    const { turn, session, prices, command } = asked;
    try {
      await writeCostBaseline(this.context.folderOf(turn), this.configDir, turn.cwd, session, prices);
    } catch (error) {
      return toNotStarted(command, error);
    }
    await this.waitForStartSlot();
    return this.start(asked, ref, events, false);
  }

  recover(left: ReadTurn, locator: TurnLocator, ref: ProcessRef): Promise<EndedTurnProcess> {
    return recoverTurn(this.context, this.configDir, left, locator, ref);
  }

  private start(planned: PlannedTurn, ref: ProcessRef, events: ConnectionEvents, isEarly: boolean): Promise<Connected> {
    const { context, configDir } = this;
    const onRefused = (turn: PromptTurn): void => {
      this.isRefused = true;
      context.warn(turn, REFUSED);
    };
    return connectClaude(context, planned, { configDir, process: ref, isEarly, onRefused }, events);
  }

  private async plan(turn: PromptTurn, session: SessionUse): Promise<PlannedTurn | null> {
    const { context } = this;
    const state = await context.readState(turn.state, turn);
    if (!isSandboxed(context.options, state)) await context.checkSettings?.(turn);
    const claude = await this.findClaude();
    const command = buildClaudeCommand({ context, claude, turn, session, state, staysOpen: true });
    return this.canStayOpen(command) ? { turn, session, command } : null;
  }
}

type Connected = Connection<AskedTurn, EndedTurnProcess> | NotStarted;

/** Creates a function that lets callers through one by one, with `gapMs` between them. */
export function stagger(gapMs: number): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const previous = last;
    last = previous.then(() => delay(gapMs, undefined, { ref: false }));
    await previous;
  };
}
