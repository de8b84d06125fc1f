import { createHash } from 'node:crypto';
import type { Event } from '../core/event.ts';
import type { Options, Run } from '../core/run.ts';
import type { Scope } from '../core/state-names.ts';
import type { World } from '../engine/world.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { DebugFiles } from '../events/debug-files.ts';
import { END_GRACE_MS, endMarked } from '../process/end.ts';
import { resolveDebugFolder, type StoreLayout } from '../store/layout.ts';
import type { RunStore } from '../store/store.ts';
import { createTurnFolder, removeTurnFolder } from '../store/turn-folder.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import { createTurnRunner, type StopControl } from '../turns/turn-runner.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { BackendFactory } from './backend-factory.ts';
import type { Runtime } from './runtime.ts';

/** All that a run needs to get going. */
export interface RunContext {
  readonly run: Run;
  /** The run's own, with what a resume changes. */
  readonly options: Options;
  readonly layout: StoreLayout;
  readonly store: RunStore;
  readonly workflow: Workflow;
  readonly env: NodeJS.ProcessEnv;
  readonly backendFactory: BackendFactory;
  readonly runtime: Runtime;
}

const OWNER_CHECK_INTERVAL_MS = 1_000;

/** The world of one run: its workflow, its disk, its turns and its observers behind one interface. */
export async function createWorld(
  { run, options, layout, store, workflow, env: baseEnv, backendFactory, runtime }: RunContext,
  control: StopControl,
  tell: (events: readonly Event[]) => void,
  onActivity: TurnContext['onActivity'],
): Promise<{ readonly world: World; readonly close: () => Promise<void> }> {
  const { id } = run;
  // A copy: to read `process.env` as a whole is slow, and each turn does it.
  const env = { ...baseEnv };
  const mark = createProcessMark(layout, id);
  const turnContext: TurnContext = {
    runId: id,
    runMarker: mark,
    onActivity,
    readState: workflow.state,
    readScope: createScopeReader(workflow),
    scriptPath: workflow.pathOf,
    folderOf: (turn) => layout.turnFolder(id, turn),
    makeFolder: (turn, files) => createTurnFolder(layout, id, turn, files, runtime.storeOptions.durable),
  };
  const backend = backendFactory.create(turnContext, control.killing);
  const debug = options.debug && runtime.debugFiles ? await createDebugFiles(layout, run, tell) : null;
  const world: World = {
    ...createTurnRunner({ context: turnContext, options, env, control, backend, clock: runtime.clock }),
    save: createSaver(store, id),
    tell(events) {
      debug?.write(events);
      if (!options.debug) for (const event of events) deleteTurnFiles(layout, id, event);
      tell(events);
    },
  };
  const close = async (): Promise<void> => {
    if (control.killing.aborted) await endMarked(`${mark}/`, { graceMs: END_GRACE_MS });
  };
  const wrappedWorld = runtime.wrapWorld(world);
  return { world: runtime.killed === null ? wrappedWorld : killable(wrappedWorld, runtime.killed), close };
}

/**
 * The files of the workflow, or, if it cannot be listed just now, those it had before: an answer must not be lost for that.
 * Who enters a state that is gone is paused there.
 */
function createScopeReader(workflow: Workflow): TurnContext['readScope'] {
  let lastScope: Scope | undefined;
  return async () => {
    try {
      lastScope = await workflow.scope();
    } catch (error) {
      if (lastScope === undefined || !(error instanceof RaymondError)) throw error;
    }
    return lastScope;
  };
}

/** What the processes of a run are known by: its id alone may be in use in another folder. */
function createProcessMark(layout: StoreLayout, id: string): string {
  return `${id}/${createHash('sha256').update(layout.runFolder(id)).digest('hex').slice(0, 8)}`;
}

/** Saves steps as long as the run is ours; someone may have taken it over while this machine was out of sight. */
function createSaver(store: RunStore, id: string): World['save'] {
  let checkedAt = Date.now();
  return async (steps) => {
    if (Date.now() - checkedAt > OWNER_CHECK_INTERVAL_MS) {
      if (!(await store.stillOwner())) throw takenOverError(id);
      checkedAt = Date.now();
    }
    await store.save(steps);
  };
}

const takenOverError = (id: string): RaymondError =>
  new RaymondError(`Run ${id} is no longer ours: another Raymond has taken it over, or its folder is gone.`, {
    exitCode: EXIT.paused,
    hint: 'Nothing more is started here. Turns under way come to their end by themselves.',
  });

async function createDebugFiles(
  layout: StoreLayout,
  run: Run,
  tell: (events: readonly Event[]) => void,
): Promise<DebugFiles> {
  const folder = await resolveDebugFolder(layout, run.id, run.startedAt);
  const { id: agent = 'main', state = '' } = run.agents[0] ?? {};
  return new DebugFiles(
    { folder, turnFolder: (turn) => layout.turnFolder(run.id, turn) },
    run.ledger.spentMicros,
    (message) => tell([{ kind: 'warning', at: Date.now(), agent, state, message }]),
  );
}

/** Files of a turn that nobody wants to keep go once its end is on disk. */
function deleteTurnFiles(layout: StoreLayout, id: string, event: Event): void {
  if (event.kind !== 'turn_ended') return;
  const { agent, turn: number, state } = event;
  removeTurnFolder(layout, id, { agent, number, state }).catch(() => {});
}

/**
 * A world that ends with a life: once that is gone, nothing is told any more and no answer comes, so that whoever waits
 * for one waits for ever and does nothing else.
 */
export function killable(world: World, killed: AbortSignal): World {
  const unlessKilled = <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      if (killed.aborted) return NEVER;
      try {
        const result = await method(...args);
        return killed.aborted ? NEVER : result;
      } catch (error) {
        if (killed.aborted) return NEVER;
        throw error;
      }
    };
  };
  return {
    prepare: unlessKilled(world.prepare),
    take: unlessKilled(world.take),
    save: unlessKilled(world.save),
    tell: (events) => (killed.aborted ? undefined : world.tell(events)),
  };
}

const NEVER = new Promise<never>(() => {});
