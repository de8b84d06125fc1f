import type { Agent } from '../core/run/agent.ts';
import type { Change } from '../core/run/change.ts';
import type { JournalReader } from '../storage/storage.ts';

/**
 * Reads the agents that a run has archived up to this step, as they were when they ended. Those whose steps are in a
 * journal that was moved away are missing.
 */
export async function readArchivedAgents(
  journal: JournalReader,
  id: string,
  upToSeq: number,
): Promise<readonly Agent[]> {
  const { tryParseAgent } = await import('../storage/run-schema.ts');
  const collector = new ArchivedAgentsCollector(tryParseAgent);
  for await (const { seq, change } of journal.read(id)) {
    if (seq > upToSeq) break;
    collector.add(change);
  }
  return collector.archived;
}

/** Puts archived agents together from the changes of a run, which it gets in order from the first on. */
class ArchivedAgentsCollector {
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
