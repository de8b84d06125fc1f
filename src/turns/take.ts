import { randomUUID } from 'node:crypto';
import type { ClaudeTurn, ScriptTurn, Turn } from '../core/due.ts';
import type { Options } from '../core/run.ts';
import type { Began, Signal, Unreadable } from '../core/signal.ts';
import { RaymondError } from '../errors.ts';
import type { Backend, ScriptTaker } from './backend.ts';
import type { Clock } from './clock.ts';
import type { Desk } from './desk.ts';
import type { Environment } from './environment.ts';
import { prepareScript, takeScript } from './script.ts';

/** How a user may cut things short: `stopping` drops what only waits, `killing` ends what runs. */
export interface Control {
  readonly stopping: AbortSignal;
  readonly killing: AbortSignal;
}

/** Takes turns: the part of the world that runs something. */
export interface Taker {
  prepare(turn: ClaudeTurn | ScriptTurn): Promise<Began | Unreadable>;
  take(turn: Turn): Promise<Signal | null>;
}

/** What the turns of a run are taken with. */
export interface Equipment {
  readonly desk: Desk;
  readonly options: Options;
  /** What scripts inherit. */
  readonly env: Environment;
  readonly control: Control;
  readonly backend: Backend;
  readonly clock: Clock;
}

/** Makes the taker of a run. Scripts are run here, prompts by an agent's backend. */
export function newTaker({ desk, options, env, control, backend, clock }: Equipment): Taker {
  /** Agents whose turn was made ready in this life; any other turn on record was started in an earlier one. */
  const ready = new Set<string>();
  const shell: ScriptTaker = {
    prepare: (turn, state) => prepareScript(desk, turn, state, options),
    take: async (turn, life) => ({ ...(await takeScript(desk, turn, life, env, control.killing)), at: clock.now() }),
  };
  const scripts = (script: string): ScriptTaker => backend.standIn?.(script) ?? shell;
  return {
    async prepare(turn) {
      const said = { at: clock.now(), agent: turn.agent };
      try {
        const state = await desk.state(turn.state);
        const isScript = turn.kind === 'script';
        const warnings = await (isScript ? scripts(turn.state).prepare(turn, state) : backend.prepare(turn, state));
        ready.add(turn.agent);
        const rules = isScript || turn.prompt.kind === 'state' ? state.rules : null;
        return { kind: 'began', ...said, sessionId: randomUUID(), rules, warnings };
      } catch (error) {
        if (!(error instanceof RaymondError)) throw error;
        const { message, hint } = error;
        return { kind: 'unreadable', ...said, message: hint === undefined ? message : `${message} ${hint}` };
      }
    },

    async take(turn) {
      if (turn.kind === 'sleep') {
        const slept = await clock.sleepUntil(turn.untilMs, control.stopping);
        return slept ? { kind: 'woke', at: clock.now(), agent: turn.agent } : null;
      }
      const life = ready.delete(turn.agent) ? 'this' : 'earlier';
      return turn.kind === 'script' ? scripts(turn.state).take(turn, life) : backend.take(turn, life);
    },
  };
}
