import type { Agent } from '../core/agent.ts';
import { errorCodeOf } from '../errors.ts';
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
  const drafts = new Map<string, { visits: object }>();
  const archived: Agent[] = [];
  try {
    for await (const entries of readJournal(file, { offset: 0, owner: 0, checkedFrom })) {
      for (const { change } of entries) {
        if (change.seq > upToSeq) return archived;
        // The first change of a worker has all of its fields.
        for (const { id: agent, set, visits } of change.agents) {
          const draft = drafts.get(agent);
          drafts.set(agent, { ...draft, ...set, visits: { ...draft?.visits, ...visits } });
        }
        for (const agent of change.archived ?? []) {
          archived.push(...tryParseAgent(drafts.get(agent)));
          drafts.delete(agent);
        }
      }
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw unreadableFileError(file, error);
  }
  return archived;
}
