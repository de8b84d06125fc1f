import { createHash } from 'node:crypto';
import type { Event } from '../core/event.ts';
import type { Scope } from '../core/names.ts';
import type { Options, Run } from '../core/run.ts';
import type { World } from '../engine/world.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { DebugFiles } from '../observers/debug-files.ts';
import { END_GRACE_MS, endMarked } from '../process/end.ts';
import { debugFolder } from '../store/debug-folder.ts';
import type { Layout } from '../store/layout.ts';
import type { Store } from '../store/store.ts';
import { dropTurn, prepareTurn } from '../store/turn-folder.ts';
import type { Desk } from '../turns/desk.ts';
import { type Control, newTaker } from '../turns/take.ts';
import type { Workflow } from '../workflow/load.ts';
import type { Answerer } from './answerer.ts';
import { mortal } from './mortal.ts';
import type { Staging } from './staging.ts';

/** All that a run needs to get going. */
export interface Expedition {
  readonly run: Run;
  /** The run's own, with what a resume changes. */
  readonly options: Options;
  readonly layout: Layout;
  readonly store: Store;
  readonly workflow: Workflow;
  readonly env: NodeJS.ProcessEnv;
  readonly answerer: Answerer;
  readonly staging: Staging;
}

const ASK_OWNER_EVERY_MS = 1_000;

/** The world of one run: its workflow, its disk, its turns and its observers behind one interface. */
export async function worldOf(
  { run, options, layout, store, workflow, env: given, answerer, staging }: Expedition,
  control: Control,
  tell: (events: readonly Event[]) => void,
  notice: Desk['notice'],
): Promise<{ readonly world: World; readonly close: () => Promise<void> }> {
  const { id } = run;
  // A copy: to read `process.env` as a whole is slow, and each turn does it.
  const env = { ...given };
  const mark = markOf(layout, id);
  const desk: Desk = {
    runId: id,
    mark,
    notice,
    state: workflow.state,
    scope: scopeOf(workflow),
    scriptPath: workflow.pathOf,
    folderOf: (turn) => layout.turn(id, turn),
    makeFolder: (turn, files) => prepareTurn(layout, id, turn, files, staging.store.durable),
  };
  const backend = answerer.backend(desk, control.killing);
  const debug = options.debug && staging.debugFiles ? await debugFilesOf(layout, run, tell) : null;
  const world: World = {
    ...newTaker({ desk, options, env, control, backend, clock: staging.clock }),
    save: saver(store, id),
    tell(events) {
      debug?.tell(events);
      if (!options.debug) for (const event of events) dropFiles(layout, id, event);
      tell(events);
    },
  };
  const close = async (): Promise<void> => {
    if (control.killing.aborted) await endMarked(`${mark}/`, { graceMs: END_GRACE_MS });
  };
  const staged = staging.around(world);
  return { world: staging.gone === null ? staged : mortal(staged, staging.gone), close };
}

/**
 * The files of the workflow, or, if it cannot be listed just now, those it had before: an answer must not be lost for that.
 * Who enters a state that is gone is paused there.
 */
function scopeOf(workflow: Workflow): Desk['scope'] {
  let known: Scope | undefined;
  return async () => {
    try {
      known = await workflow.scope();
    } catch (error) {
      if (known === undefined || !(error instanceof RaymondError)) throw error;
    }
    return known;
  };
}

/** What the processes of a run are known by: its id alone may be in use in another folder. */
function markOf(layout: Layout, id: string): string {
  return `${id}/${createHash('sha256').update(layout.run(id)).digest('hex').slice(0, 8)}`;
}

/** Saves steps as long as the run is ours; someone may have taken it over while this machine was out of sight. */
function saver(store: Store, id: string): World['save'] {
  let askedAt = Date.now();
  return async (steps) => {
    if (Date.now() - askedAt > ASK_OWNER_EVERY_MS) {
      if (!(await store.stillOwner())) throw takenOver(id);
      askedAt = Date.now();
    }
    await store.save(steps);
  };
}

const takenOver = (id: string): RaymondError =>
  new RaymondError(`Run ${id} is no longer ours: another Raymond has taken it over, or its folder is gone.`, {
    exitCode: EXIT.paused,
    hint: 'Nothing more is started here. Turns under way come to their end by themselves.',
  });

async function debugFilesOf(layout: Layout, run: Run, tell: (events: readonly Event[]) => void): Promise<DebugFiles> {
  const folder = await debugFolder(layout, run.id, run.startedAt);
  const { id: agent = 'main', state = '' } = run.agents[0] ?? {};
  return new DebugFiles(
    { folder, turnFolder: (turn) => layout.turn(run.id, turn) },
    run.ledger.spentMicros,
    (message) => tell([{ kind: 'warning', at: Date.now(), agent, state, message }]),
  );
}

/** Files of a turn that nobody wants to keep go once its end is on disk. */
function dropFiles(layout: Layout, id: string, event: Event): void {
  if (event.kind !== 'turn_ended') return;
  const { agent, turn: number, state } = event;
  dropTurn(layout, id, { agent, number, state }).catch(() => {});
}
