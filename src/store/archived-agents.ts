import type { Agent } from '../core/agent.ts';
import { errorCodeOf } from '../errors.ts';
import type { Change } from './change.ts';
import { readJournal } from './journal-lines.ts';
import type { StoreLayout } from './layout.ts';
import { loadSnapshot, unreadableFileError } from './load.ts';

/**
 * Reads the agents that a run has archived up to this step, as they were when they ended. Those whose steps are in a
 * journal that was moved away are missing.
 */
export async function readArchivedAgents(layout: StoreLayout, id: string, upToSeq: number): Promise<readonly Agent[]> {
  const file = layout.journalFile(id);
  const { tryParseAgent } = await import('./state-file.ts');
  const { checkedFrom } = (await loadSnapshot(layout, id)).journal;
  const collector = new ArchivedAgentsCollector(tryParseAgent);
  try {
    for await (const entries of readJournal(file, { offset: 0, owner: 0, checkedFrom })) {
      for (const { change } of entries) {
        if (change.seq > upToSeq) return collector.archived;
        collector.add(change);
      }
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw unreadableFileError(file, error);
  }
  return collector.archived;
}

/** Puts archived agents together from the changes of a run, which it gets in order from the first on. */
export class ArchivedAgentsCollector {
  readonly archived: Agent[] = [];
  private readonly drafts = new Map<string, { visits: object }>();
  private readonly parse: (data: unknown) => readonly Agent[];

  /** `parse` makes an agent of its data; none if the data is not all of it. */
  constructor(parse: (data: unknown) => readonly Agent[]) {
    this.parse = parse;
  }

  add({ agents, archived = [] }: Pick<Change, 'agents' | 'archived'>): void {
    // The first change of a worker has all of its fields.
    for (const { id, set, visits } of agents) {
      const draft = this.drafts.get(id);
      this.drafts.set(id, { ...draft, ...set, visits: { ...draft?.visits, ...visits } });
    }
    for (const id of archived) {
      this.archived.push(...this.parse(this.drafts.get(id)));
      this.drafts.delete(id);
    }
  }
}
