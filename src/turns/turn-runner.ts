import { randomUUID } from 'node:crypto';
import type { ClaudeTurn, ScriptTurn, Turn } from '../core/due.ts';
import type { Options } from '../core/run.ts';
import type { Began, Signal, Unreadable } from '../core/signal.ts';
import { RaymondError } from '../errors.ts';
import type { Backend, ScriptRunner } from './backend.ts';
import type { RunClock } from './clock.ts';
import type { Environment } from './environment.ts';
import { prepareScriptTurn, runScriptTurn } from './script-turn.ts';
import type { TurnContext } from './turn-context.ts';

/** How a user may cut things short: `stopping` drops what only waits, `killing` ends what runs. */
export interface StopControl {
  readonly stopping: AbortSignal;
  readonly killing: AbortSignal;
}

/** Takes turns: the part of the world that runs something. */
export interface TurnRunner {
  prepare(turn: ClaudeTurn | ScriptTurn): Promise<Began | Unreadable>;
  take(turn: Turn): Promise<Signal | null>;
}

/** What the turns of a run are taken with. */
export interface TurnDeps {
  readonly context: TurnContext;
  readonly options: Options;
  /** What scripts inherit. */
  readonly env: Environment;
  readonly control: StopControl;
  readonly backend: Backend;
  readonly clock: RunClock;
}

/** Makes the taker of a run. Scripts are run here, prompts by an agent's backend. */
export function createTurnRunner({ context, options, env, control, backend, clock }: TurnDeps): TurnRunner {
  /** Agents whose turn was made ready in this life; any other turn on record was started in an earlier one. */
  const preparedAgents = new Set<string>();
  const processRunner: ScriptRunner = {
    prepare: (turn, state) => prepareScriptTurn(context, turn, state, options),
    take: async (turn, adopted) => ({
      ...(await runScriptTurn(context, turn, adopted, env, control.killing)),
      at: clock.now(),
    }),
  };
  const runnerFor = (script: string): ScriptRunner => backend.scriptRunnerFor?.(script) ?? processRunner;
  return {
    async prepare(turn) {
      const signalBase = { at: clock.now(), agent: turn.agent };
      try {
        const state = await context.readState(turn.state);
        const isScript = turn.kind === 'script';
        const warnings = await (isScript ? runnerFor(turn.state).prepare(turn, state) : backend.prepare(turn, state));
        preparedAgents.add(turn.agent);
        const rules = isScript || turn.prompt.kind === 'state' ? state.rules : null;
        return { kind: 'began', ...signalBase, sessionId: randomUUID(), rules, warnings };
      } catch (error) {
        if (!(error instanceof RaymondError)) throw error;
        const { message, hint } = error;
        return { kind: 'unreadable', ...signalBase, message: hint === undefined ? message : `${message} ${hint}` };
      }
    },

    async take(turn) {
      if (turn.kind === 'sleep') {
        const slept = await clock.sleepUntil(turn.untilMs, control.stopping);
        return slept ? { kind: 'woke', at: clock.now(), agent: turn.agent } : null;
      }
      const adopted = preparedAgents.delete(turn.agent) ? 'this' : 'earlier';
      return turn.kind === 'script' ? runnerFor(turn.state).take(turn, adopted) : backend.take(turn, adopted);
    },
  };
}
