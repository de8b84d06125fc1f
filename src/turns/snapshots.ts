import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Run } from '../core/run/run.ts';
import type { FolderSnapshot } from '../core/run/snapshot.ts';
import type { PromptTurn, ScriptTurn, TurnRef } from '../core/turns/due.ts';
import type { SnapshotOutcome } from '../git/snapshot-repository.ts';
import { isPrompt } from '../language/state-names.ts';
import type { TurnContext } from './turn-context.ts';

/*
 * Snapshots of working folders around prompts: before each prompt, before a script that comes after one, and once an agent comes to rest
 * after one. None are taken among scripts, so that a run without prompts has none. A snapshot that fails is a warning.
 */

/** A line in the list of a run's snapshots. */
export interface ListedSnapshot extends FolderSnapshot {
  readonly agent: string;
  readonly turn: number;
  readonly when: 'before' | 'after';
}

/** Where the snapshots of a run are kept and listed. */
export interface SnapshotPlace {
  readonly repository: string;
  readonly list: string;
}

/** Takes the snapshots of a run. */
export class TurnSnapshots {
  private readonly context: Pick<TurnContext, 'env' | 'warn'>;
  private readonly place: SnapshotPlace;
  /** By folder, the agents whose prompts were at work there since the last snapshot, and whether they still are. Null: not known. */
  private touched: Map<string, Map<string, 'running' | 'ended'>> | null;
  /** Folders of which no snapshot can be taken. */
  private readonly off = new Set<string>();
  private readonly told = new Set<string>();
  private readonly queues = new Map<string, SnapshotQueue>();
  /** The last prompt of each agent, and the folder in which it began. */
  private readonly prompts = new Map<string, { readonly turn: TurnRef; readonly folder: string }>();
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(context: Pick<TurnContext, 'env' | 'warn'>, place: SnapshotPlace, { ledger }: Run) {
    this.context = context;
    this.place = place;
    this.touched = ledger.turns > 0 ? null : new Map();
  }

  /** Takes the snapshot before a turn, if it is to have one. */
  async before(turn: PromptTurn | ScriptTurn): Promise<FolderSnapshot | null> {
    if (turn.kind === 'script' && this.touched?.size === 0) return null;
    const { snapshotFolderOf } = await import('../git/snapshot-repository.ts');
    const folder = snapshotFolderOf(turn.cwd);
    const isKnown = this.touched !== null;
    this.touched ??= new Map();
    const here = this.touched.get(folder) ?? new Map<string, 'running' | 'ended'>();
    if (turn.kind === 'script' && isKnown && here.size === 0) return null;
    for (const [agent, state] of here) if (state === 'ended') here.delete(agent);
    if (turn.kind === 'claude') {
      here.set(turn.agent, 'running');
      this.prompts.set(turn.agent, { turn, folder });
    } else this.prompts.delete(turn.agent);
    if (here.size === 0) this.touched.delete(folder);
    else this.touched.set(folder, here);
    return this.take(turn, folder, 'before');
  }

  /** Takes the snapshots of agents that came to rest after a prompt, for the difference that it has made. */
  after(run: Run, endedTurns: readonly TurnRef[]): void {
    for (const { agent: id, number, state } of endedTurns) {
      const prompt = this.prompts.get(id);
      if (!isPrompt(state) || prompt?.turn.number !== number) continue;
      this.touched?.get(prompt.folder)?.set(id, 'ended');
      const { phase } = run.agents.find((agent) => agent.id === id) ?? {};
      if (phase !== undefined && NEXT_TURN_COMES.has(phase.kind)) continue;
      const taking = this.take(prompt.turn, prompt.folder, 'after');
      this.underWay.add(taking);
      void taking.finally(() => this.underWay.delete(taking));
    }
  }

  /** Resolves when all snapshots are taken. */
  async close(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private async take(turn: TurnRef, folder: string, when: ListedSnapshot['when']): Promise<FolderSnapshot | null> {
    if (this.off.has(folder)) return null;
    const outcome = await this.queueOf(folder).take();
    if ('problem' in outcome) {
      // The run itself reports that the folder of its files is gone.
      if (!existsSync(dirname(this.place.repository))) return null;
      if (outcome.isFinal) this.off.add(folder);
      this.tell(
        turn,
        outcome.isFinal
          ? `there are no snapshots of ${folder}: ${outcome.problem}; \`rerun\` and \`diff\` do without its files, and --no-snapshots takes this notice away`
          : `no snapshot of ${folder} could be taken: ${outcome.problem}`,
      );
      return null;
    }
    const { snapshot, leftOut } = outcome;
    for (const file of leftOut) this.tell(turn, `${file} is not in the snapshots of ${folder}: it has more than 50 MB`);
    const { agent, number } = turn;
    const listed: ListedSnapshot = { agent, turn: number, when, ...snapshot };
    try {
      await appendFile(this.place.list, `${JSON.stringify(listed)}\n`, { mode: 0o600 });
    } catch {
      // Without its line it would not outlive the next clean-up.
      return null;
    }
    return snapshot;
  }

  private tell(turn: TurnRef, message: string): void {
    if (this.told.has(message)) return;
    this.told.add(message);
    this.context.warn(turn, message);
  }

  private queueOf(folder: string): SnapshotQueue {
    const known = this.queues.get(folder);
    if (known !== undefined) return known;
    const queue = new SnapshotQueue(async () => {
      const { takeSnapshot } = await import('../git/snapshot-repository.ts');
      return takeSnapshot(this.place.repository, folder, { env: this.context.env });
    });
    this.queues.set(folder, queue);
    return queue;
  }
}

/** The phases after which the agent's next turn takes a snapshot, or needs none. */
const NEXT_TURN_COMES: ReadonlySet<string> = new Set(['ready', 'running', 'sleeping', 'cancelling']);

/** Takes the snapshots of one folder, one at a time; those who wait share the next. */
class SnapshotQueue {
  private readonly takeOne: () => Promise<SnapshotOutcome>;
  private running: Promise<unknown> | null = null;
  private next: Promise<SnapshotOutcome> | null = null;

  constructor(takeOne: () => Promise<SnapshotOutcome>) {
    this.takeOne = takeOne;
  }

  take(): Promise<SnapshotOutcome> {
    if (this.running === null) return this.begin();
    this.next ??= this.running.then(() => {
      this.next = null;
      return this.begin();
    });
    return this.next;
  }

  private begin(): Promise<SnapshotOutcome> {
    const taking = this.takeOne();
    const running = taking.finally(() => {
      if (this.running === running) this.running = null;
    });
    this.running = running;
    return taking;
  }
}
