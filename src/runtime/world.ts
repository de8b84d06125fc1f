import { join } from 'node:path';
import { type TurnRef, turnRefOf } from '../core/due.ts';
import type { Event } from '../core/event.ts';
import { isReplay } from '../core/option-types.ts';
import type { Signal } from '../core/signal.ts';
import type { World } from '../engine/world.ts';
import { AgentLabels } from '../events/agent-labels.ts';
import { DebugFiles } from '../events/debug-files.ts';
import { END_GRACE_MS, endMarked } from '../process/end.ts';
import { CommandStarter } from '../process/ready-wrapper.ts';
import { makePrivateFolder } from '../store/files.ts';
import { resolveDebugFolder, type StoreLayout } from '../store/layout.ts';
import { createTurnFolder, findBegunTurns, removeTurnFolder, writeResultsFile } from '../store/turn-folder.ts';
import { AskBoard } from '../turns/ask-board.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import { TurnEndings } from '../turns/turn-endings.ts';
import { createTurnRunner } from '../turns/turn-runner.ts';
import { findFolderLimits } from './folder-limits.ts';
import { HistoryFile } from './history-file.ts';
import type { RunContext } from './run-context.ts';
import { accessWorkflows } from './run-workflows.ts';
import { SharedQuota } from './shared-quota.ts';
import { WordInbox } from './word-inbox.ts';

/** How others watch and end the turns of a run, and how signals get to it. */
export interface TurnControl extends Pick<TurnContext, 'stopSignal' | 'onActivity' | 'onRetry' | 'onPrint'> {
  /** Aborted when running turns are to be ended, too. */
  readonly killSignal: AbortSignal;
  readonly send: (signal: Signal) => void;
  /** Called once with the questions that wait. */
  readonly onBoard: (board: AskBoard) => void;
  /** Called once with what people say to the agents. */
  readonly onWords: (words: WordInbox) => void;
}

/** Who speaks in the place of people. */
const SCENARIO = 'the scenario';

/** Creates the world of one run: its workflow, its disk, its turns and its observers behind one interface. */
export async function createWorld(
  context: RunContext,
  control: TurnControl,
  notify: (events: readonly Event[]) => void,
): Promise<{ readonly world: World; readonly close: () => Promise<void> }> {
  const { run, options, layout, store, workflow, runtime } = context;
  const { id } = run;
  const { clock } = runtime;
  // As a signal, so that it is on record.
  const warn = ({ agent, state }: Pick<TurnRef, 'agent' | 'state'>, message: string): void =>
    control.send({ kind: 'noticed', at: clock.now(), about: { agent, state }, message });
  const workflows = await accessWorkflows(workflow, options, context.env, layout.runFolder(id));
  const askBoard = new AskBoard(
    runtime.createAnswers(layout, id, { clock, durable: runtime.storeOptions.durable ?? true, warn }),
    clock,
  );
  control.onBoard(askBoard);
  const env = workflows.environmentOf(workflow.entry);
  const quota = new SharedQuota(env, clock, isReplay(options), (known) =>
    control.send({ kind: 'quota_reported', at: clock.now(), quota: known }),
  );
  // The id alone may be in use in another folder.
  const runMarker = `${id}/${store.mark}`;
  const starter = new CommandStarter(runMarker);
  const turnContext: TurnContext = {
    ...control,
    askBoard,
    endings: new TurnEndings(control.killSignal),
    runId: id,
    runMarker,
    starter,
    options,
    ...findFolderLimits(run, layout, workflow, runtime.isSandbox),
    env,
    clock,
    quota,
    ...(runtime.beforeStart !== null && { beforeStart: runtime.beforeStart }),
    ...(runtime.copies !== null && { copies: runtime.copies }),
    ...(runtime.idleLimit !== null && { idleLimit: runtime.idleLimit }),
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
    isDoubtful: store.isDoubtful,
    presenceDescriptor: store.presenceDescriptor,
    findBegunTurns: (turn) => findBegunTurns(layout, id, turn),
    retry: context.retry,
    // The first thing that a run does may be to clone.
    isResumed: run.seq > 0 || run.workspace !== null,
    folderOf: (turn) => layout.turnFolder(id, turn),
    conversationsFolder: layout.conversationsFolder(id),
    conversationFolder: (opener) => layout.conversationFolder(id, opener),
    worktreeFolder: (agent) => join(layout.worktreesFolder(id), agent),
    makeWorkFolder: (path) => makePrivateFolder(path, false),
    writeResults: writeResultsFile,
    makeFolder: (turn, files) => createTurnFolder(layout, id, turn, files, runtime.storeOptions.durable),
  };
  const backend = await context.backendFactory.create(turnContext);
  const words = new WordInbox({
    words: runtime.createWords(layout, id),
    run,
    backend,
    clock,
    send: control.send,
    warn,
    end: (agent) => turnContext.endings.end(agent),
  });
  await words.open();
  control.onWords(words);
  const debug = options.debug && runtime.debugFiles ? await createDebugFiles(context, warn) : null;
  const history = runtime.historyFiles ? await HistoryFile.open(layout, run, store) : null;
  const world: World = {
    ...createTurnRunner(turnContext, backend),
    async save(steps) {
      await store.save(steps);
      history?.add(steps);
      const last = steps.at(-1);
      if (last !== undefined) backend.release?.(last.step.run);
    },
    notify(events) {
      debug?.writeSoon(events);
      if (!options.debug) for (const event of events) deleteTurnFiles(layout, id, event);
      words.passOn(events);
      notify(events);
    },
  };
  const close = async (): Promise<void> => {
    askBoard.close();
    starter.close();
    await backend.close?.();
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

/** Deletes the files of a turn whose end is on disk. */
function deleteTurnFiles(layout: StoreLayout, id: string, event: Event): void {
  if (event.kind !== 'turn_ended') return;
  removeTurnFolder(layout, id, turnRefOf(event)).catch(() => {});
}

/**
 * A world that can be switched off as if its process had been killed: from then on it notifies nobody and never answers,
 * so that its caller waits for ever and does nothing else.
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
    notify: (events) => (killed.aborted ? undefined : world.notify(events)),
  };
}

const NEVER = new Promise<never>(() => {});
