import { randomUUID } from 'node:crypto';
import { isSandboxed } from '../core/options/sandbox-options.ts';
import type { Began, Signal, Unreadable, Unrecorded } from '../core/signals/signal.ts';
import type { PromptTurn, ScriptTurn, SleepTurn, Turn } from '../core/turns/due.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { MAX_BACK_OFF_MS } from '../language/failure.ts';
import { resolveGuards } from '../language/guards.ts';
import { fileInWorkflow } from '../language/named-workflows.ts';
import type { Rules } from '../language/policy.ts';
import type { State } from '../language/state.ts';
import type { Clock } from '../process/clock.ts';
import { checkResult } from '../schema/check-result.ts';
import type { Backend, ScriptRunner } from './backend.ts';
import { prepareScriptTurn, runScriptTurn } from './script-turn.ts';
import { ChangedCodeError } from './signals.ts';
import type { TurnContext } from './turn-context.ts';
import { createWorktreeRunner } from './worktree-turn.ts';

/** Takes turns: the part of the world that runs something. */
export interface TurnRunner {
  prepare(turn: PromptTurn | ScriptTurn): Promise<Began | Unreadable | Unrecorded>;
  take(turn: Turn): Promise<Signal | null>;
  end(agent: string): void;
}

/** Creates the turn runner of a run. It runs scripts itself and leaves prompts to the backend. */
export function createTurnRunner(context: TurnContext, backend: Backend): TurnRunner {
  const { clock } = context;
  /** Agents whose turn was prepared by this process; any other turn on record was started by an earlier one. */
  const preparedAgents = new Set<string>();
  const takeWorktreeTurn = createWorktreeRunner(context);
  /** Agents whose script, prepared by this process, runs in a sandbox. */
  const boxedAgents = new Set<string>();
  const processRunner: ScriptRunner = {
    async prepare(turn, state) {
      boxedAgents.delete(turn.agent);
      if (isSandboxed(context.options, state)) {
        await context.sandboxes?.check(turn.cwd, turn.agent);
        boxedAgents.add(turn.agent);
      }
      return prepareScriptTurn(context, turn, state);
    },
    take: (turn, adopted) => runScriptTurn(context, turn, adopted, boxedAgents.has(turn.agent)),
  };
  const runnerFor = (script: string): ScriptRunner => backend.scriptRunnerFor?.(script) ?? processRunner;
  const makeReady = async (turn: PromptTurn | ScriptTurn, state: State): Promise<readonly string[]> => {
    // Before each turn: somebody may have removed them.
    for (const folder of [turn.runFolder, turn.taskFolder]) {
      if (folder !== null) await context.makeWorkFolder(folder);
    }
    if (turn.results !== null && turn.results.file !== null)
      await context.writeResults(turn.results.file, JSON.stringify(turn.results.workers));
    const warnings = await (turn.kind === 'script'
      ? runnerFor(turn.state).prepare(turn, state)
      : backend.prepare(turn, state));
    preparedAgents.add(turn.agent);
    return warnings;
  };
  return {
    async prepare(turn) {
      const signalBase = { at: clock.now(), agent: turn.agent };
      // Otherwise its agent's worker makes it ready when it takes it.
      const isHere = turn.node === (context.home ?? null);
      try {
        if (isHere && context.findBegunTurns(turn).length > 0) {
          const { findUnrecorded } = await import('./unrecorded-turns.ts');
          const unrecorded = await findUnrecorded(context, turn);
          if (unrecorded !== undefined) return unrecorded;
        }
        const state = await readTurnState(context, turn);
        await refuseUnfitResult(context, turn);
        const warnings = isHere ? await makeReady(turn, state) : [];
        const snapshot = (isHere ? await context.snapshots?.before(turn) : null) ?? null;
        const isScript = turn.kind === 'script';
        const rules = isScript || turn.prompt.kind === 'state' ? await resolveRules(context, state) : null;
        const quota = isScript ? undefined : await context.quota?.news();
        const news = quota === undefined ? {} : { quota };
        const sessionId = (isScript ? undefined : backend.sessionFor?.(turn)) ?? randomUUID();
        return { kind: 'began', ...signalBase, sessionId, rules, warnings, ...(snapshot && { snapshot }), ...news };
      } catch (error) {
        if (!(error instanceof RaymondError)) throw error;
        const { message, hint } = error;
        const changed = error instanceof ChangedCodeError ? { changed: error.changed } : {};
        const text = hint === undefined ? message : `${message} ${hint}`;
        return { kind: 'unreadable', ...signalBase, message: text, ...changed };
      }
    },

    take: (turn) =>
      context.endings.during(turn.agent, async (end) => {
        if (turn.kind === 'sleep' && turn.why === 'ask') {
          const answered = backend.waitForAnswer?.(turn) ?? context.openQuestions.wait(turn);
          end.addEventListener('abort', () => context.openQuestions.forget(turn.ask), { once: true });
          return Promise.race([answered, nullOnceAborted(end)]);
        }
        if (turn.kind === 'sleep') {
          const slept = await sleep(clock, turn, AbortSignal.any([context.stopSignal, end]));
          // The time of day may be earlier by now: what has waited for a time has reached it.
          return slept ? { kind: 'woke', at: Math.max(clock.now(), turn.untilMs), agent: turn.agent } : null;
        }
        if (turn.kind === 'worktree' || turn.kind === 'workspace') return takeWorktreeTurn(turn, end);
        const adopted = !preparedAgents.delete(turn.agent);
        if (turn.kind === 'claude' && turn.isInterrupted) context.endings.end(turn.agent);
        return turn.kind === 'script' ? runnerFor(turn.state).take(turn, adopted) : backend.take(turn, adopted);
      }),

    end: (agent) => context.endings.end(agent),
  };
}

/** The state of a turn. The evaluators of a sandboxed state are sandboxed, too: they read what it has written. */
async function readTurnState({ readState }: TurnContext, turn: PromptTurn | ScriptTurn): Promise<State> {
  const state = await readState(turn.state, turn);
  if (turn.evaluates === null || state.sandbox === true) return state;
  const { sandbox } = await readState(turn.evaluates.state);
  return sandbox === true ? { ...state, sandbox } : state;
}

/** The rules of a state that is entered: its guards name files, so that no failure of it has to look for them. */
async function resolveRules({ readScope }: TurnContext, { file, rules }: State): Promise<Rules> {
  const { guards } = rules;
  if (guards === undefined || Object.keys(guards.on).length === 0) return rules;
  return { ...rules, guards: resolveGuards(guards, await readScope(file)) };
}

/** Resolves to null when the signal is aborted. */
const nullOnceAborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));

/** Older runs do not say how long they meant to wait. */
function sleep(clock: Clock, { why, untilMs, mostMs }: SleepTurn, wake: AbortSignal): Promise<boolean> {
  const longestMs = why === 'retry' ? MAX_BACK_OFF_MS : Number.POSITIVE_INFINITY;
  return clock.sleepWhile(clock.measureUntil(untilMs, mostMs ?? longestMs), wake);
}

/**
 * Throws a RaymondError if the result that a turn gets does not fit the schema of the state that it is from: it did when it was
 * handed over, but the schema may have changed since.
 */
async function refuseUnfitResult(
  { readState, readScope }: TurnContext,
  { state, resultOf, input }: PromptTurn | ScriptTurn,
): Promise<void> {
  if (resultOf === undefined || input === null || !(await readScope(resultOf)).files.includes(fileInWorkflow(resultOf)))
    return;
  const { resultSchema } = await readState(resultOf);
  const checked = resultSchema === undefined ? null : await checkResult(input, resultSchema);
  if (checked === null || !('problem' in checked)) return;
  const what = checked.cannotCheck === true ? 'cannot be checked' : 'no longer fits its `result_schema`';
  const message = `${state}: the result of ${resultOf} ${what}: ${checked.problem}.`;
  throw new RaymondError(message, { exitCode: EXIT.invalid, hint: 'Correct the schema, then resume the run.' });
}
