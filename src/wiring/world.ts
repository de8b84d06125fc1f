import { join } from 'node:path';
import { isReplay } from '../core/options/option-types.ts';
import type { Options } from '../core/options/options.ts';
import type { Event } from '../core/run/event.ts';
import type { Signal } from '../core/signals/signal.ts';
import type { TurnRef } from '../core/turns/due.ts';
import { makePrivateFolder } from '../disk/files.ts';
import { resolveDebugFolder } from '../disk/layout.ts';
import { createTurnFolder, findBegunTurns, removeTurnFolder, writeResultsFile } from '../disk/turn-folder.ts';
import type { World } from '../engine/world.ts';
import { END_GRACE_MS, endMarked } from '../process/end.ts';
import { CommandStarter } from '../process/ready-wrapper.ts';
import { AgentLabels } from '../render/agent-labels.ts';
import { DebugFiles } from '../render/debug-files.ts';
import type { StopMode } from '../storage/requests.ts';
import { OpenQuestions } from '../turns/open-questions.ts';
import { TurnSnapshots } from '../turns/snapshots.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import { TurnEndings } from '../turns/turn-endings.ts';
import { createTurnRunner } from '../turns/turn-runner.ts';
import { findFolderLimits } from './folder-limits.ts';
import { HistoryFile } from './history-file.ts';
import { createAnswerSource, RequestHandler } from './request-handler.ts';
import type { RunContext } from './run-context.ts';
import { accessWorkflows } from './run-workflows.ts';
import { needsSandbox } from './sandbox-check.ts';
import { SettingsGuard } from './settings-guard.ts';
import { SharedQuota } from './shared-quota.ts';
import { worktreesFolderOf } from './worktrees-root.ts';

/** How others watch and end the turns of a run, and how signals get to it. */
export interface TurnControl extends Pick<TurnContext, 'stopSignal' | 'onActivity' | 'onRetry' | 'onPrint'> {
  /** Aborted when running turns are to be ended, too. */
  readonly killSignal: AbortSignal;
  readonly send: (signal: Signal) => void;
  /** Called when a person asks the run to stop. */
  readonly onStop: (mode: StopMode) => void;
  /** Called once with the handler of the run's requests. */
  readonly onRequests: (handler: RequestHandler) => void;
}

/** True if agents have a whole shell, so that nothing is gained by comparing what they can write to. */
const skipsPermissions = ({ skipPermissions, permissionMode }: Options): boolean =>
  skipPermissions || permissionMode === 'bypassPermissions';

/** The sender of messages in scenarios. */
const SCENARIO = 'the scenario';

/** Creates the world of one run: its workflow, its disk, its turns and its observers behind one interface. */
export async function createWorld(
  context: RunContext,
  control: TurnControl,
  notify: (events: readonly Event[]) => void,
): Promise<{ readonly world: World; readonly close: () => Promise<void> }> {
  const { run, options, layout, lease, workflow, runtime } = context;
  const { id } = run;
  const { clock } = runtime;
  // As a signal, so that it is on record.
  const warn = ({ agent, state }: Pick<TurnRef, 'agent' | 'state'>, message: string): void =>
    control.send({ kind: 'noticed', at: clock.now(), about: { agent, state }, message });
  const workflows = accessWorkflows(workflow, run, options, context.env, layout.runFolder(id));
  const settings = new SettingsGuard(run, context.env, runtime.home !== null);
  const place = runtime.openRequests(layout, runtime.storeOptions.durable ?? true);
  const openQuestions = new OpenQuestions(createAnswerSource(place, lease, id, clock), clock);
  const env = workflows.environmentOf(workflow.entry);
  const quota = new SharedQuota(env, clock, isReplay(options), (known) =>
    control.send({ kind: 'quota_reported', at: clock.now(), quota: known }),
  );
  // The id alone may be in use in another folder.
  const runMarker = `${id}/${lease.mark}`;
  const starter = new CommandStarter(runMarker);
  const takesSnapshots =
    (options.snapshots ?? !isReplay(options)) && !runtime.isSandbox && !runtime.isGuest && runtime.home === null;
  const snapshotPlace = { repository: layout.snapshotsFolder, list: layout.snapshotList(id) };
  const snapshots = takesSnapshots ? new TurnSnapshots({ env, warn }, snapshotPlace, run) : null;
  const folderLimits = findFolderLimits(run, layout, workflow, runtime.isSandbox);
  const worktreeFolder = (agent: string): string => join(worktreesFolderOf(layout, run), agent);
  const usesSandbox = needsSandbox(workflow, options);
  const sandboxes = usesSandbox
    ? new (await import('../turns/sandbox/sandboxes.ts')).Sandboxes({
        ...folderLimits,
        options,
        env: context.env,
        runMarker,
        isResumed: run.seq > 0,
        worktreeFolder,
        raymond: layout.sandboxPlaces(id),
      })
    : null;
  await sandboxes?.adopt();
  const turnContext: TurnContext = {
    ...control,
    openQuestions,
    endings: new TurnEndings(control.killSignal),
    runId: id,
    runMarker,
    starter,
    options,
    ...folderLimits,
    env,
    clock,
    quota,
    beforeStart: lease.confirm,
    ...(sandboxes !== null && { sandboxes }),
    ...(runtime.copies !== null && { copies: runtime.copies }),
    ...(runtime.idleLimit !== null && { idleLimit: runtime.idleLimit }),
    ...(snapshots !== null && { snapshots, sessionLinks: layout.sessionsFolder(id) }),
    isSandbox: runtime.isSandbox,
    home: runtime.home,
    isGuest: runtime.isGuest,
    warn,
    say: ({ agent }, { id: said, text }) => {
      const at = clock.now();
      control.send({ kind: 'said', at, about: { agent }, said, text, by: SCENARIO, saidAt: at, isReachable: false });
    },
    hear: ({ agent }, said) => control.send({ kind: 'heard', at: clock.now(), about: { agent }, said }),
    ...workflows,
    // What a sandboxed turn has written must not start programs outside of one.
    ...((!skipsPermissions(options) || usesSandbox) && { checkSettings: (turn) => settings.check(turn) }),
    isDoubtful: lease.isDoubtful,
    presenceDescriptor: lease.presence ?? undefined,
    findBegunTurns: (turn) => findBegunTurns(layout, id, turn),
    retry: context.retry,
    // The first thing that a run does may be to clone.
    isResumed: run.seq > 0 || run.workspace !== null,
    folderOf: (turn) => layout.turnFolder(id, turn),
    conversationsFolder: layout.conversationsFolder(id),
    conversationFolder: (opener) => layout.conversationFolder(id, opener),
    worktreeFolder,
    makeWorkFolder: (path) => makePrivateFolder(path, false),
    writeResults: writeResultsFile,
    makeFolder: (turn, files) => createTurnFolder(layout, id, turn, files, runtime.storeOptions.durable),
  };
  const backend = await context.backendFactory.create(turnContext);
  const requests = new RequestHandler({
    lease,
    place,
    run,
    backend,
    openQuestions,
    clock,
    canReachElsewhere: runtime.canReachElsewhere,
    stop: control.onStop,
    send: control.send,
    warn,
    end: (agent) => turnContext.endings.end(agent),
  });
  await requests.open();
  control.onRequests(requests);
  const debug = options.debug && !runtime.isSandbox && !runtime.isGuest ? await createDebugFiles(context, warn) : null;
  const history = runtime.isSandbox ? null : await HistoryFile.open(layout, run, lease);
  const world: World = {
    ...createTurnRunner(turnContext, backend),
    async save(steps) {
      await lease.append(steps);
      requests.settleSaved(steps);
      history?.add(steps);
    },
    release(saved, endedTurns) {
      backend.release?.(saved);
      snapshots?.after(saved, endedTurns);
      if (!options.debug) for (const turn of endedTurns) removeTurnFolder(layout, id, turn).catch(() => {});
    },
    deliver: (commands) => requests.deliver(commands),
    notify(events) {
      debug?.writeSoon(events);
      notify(events);
    },
  };
  const close = async (): Promise<void> => {
    openQuestions.close();
    requests.close();
    starter.close();
    await backend.close?.();
    await snapshots?.close();
    await sandboxes?.close();
    await quota.written;
    history?.write();
    debug?.flush();
    if (control.killSignal.aborted) await endMarked(`${turnContext.runMarker}/`, { graceMs: END_GRACE_MS });
  };
  const wrappedWorld = runtime.wrapWorld(world, control.send, control.killSignal);
  return { world: runtime.killed === null ? wrappedWorld : killable(wrappedWorld, runtime.killed), close };
}

async function createDebugFiles(
  { run, layout }: RunContext,
  warn: (from: { readonly agent: string; readonly state: string }, message: string) => void,
): Promise<DebugFiles> {
  const folder = await resolveDebugFolder(layout, run.id, run.startedAt);
  const { id: agent = 'main', state = '' } = run.agents[0] ?? {};
  return new DebugFiles(
    { folder, turnFolder: (turn) => layout.turnFolder(run.id, turn) },
    run.ledger.spentMicros,
    (message) => warn({ agent, state }, message),
    new AgentLabels(run.agents),
  );
}

/**
 * A world that can be switched off as if its process had been killed: from then on it does nothing and never answers, so that its
 * caller waits and does nothing else.
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
    end: (agent) => (killed.aborted ? undefined : world.end(agent)),
    save: unlessKilled(world.save),
    release: (run, endedTurns) => (killed.aborted ? undefined : world.release(run, endedTurns)),
    deliver: (commands) => (killed.aborted ? undefined : world.deliver(commands)),
    notify: (events) => (killed.aborted ? undefined : world.notify(events)),
  };
}

const NEVER = new Promise<never>(() => {});
