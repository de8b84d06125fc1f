import type { Agent } from '../core/run/agent.ts';
import { archivedCount } from '../core/run/archive.ts';
import type { Change } from '../core/run/change.ts';
import type { Run } from '../core/run/run.ts';
import { isLive } from '../core/run/status.ts';
import { RaymondError } from '../errors.ts';
import { AgentLabels } from '../render/agent-labels.ts';
import type { WaitingAnswers } from '../render/questions.ts';
import { collectHistory, HistoryCollector, type RunHistory } from '../render/run-history.ts';
import type { ObservedRun } from '../storage/run-summary.ts';
import type { JournalReader, RunStorage } from '../storage/storage.ts';
import { loadHistory, MAX_TRANSITIONS } from '../wiring/history-file.ts';
import { findWaitingAnswers } from './questions.ts';
import { streamRunEvents } from './run-files.ts';

/** The status of a run, with its history. */
export interface StatusReport extends Omit<ObservedRun, 'openConversations'> {
  readonly history: RunHistory;
  /** The number of processes of Claude Code that it keeps open for several turns; null if they are on other machines. */
  readonly openConversations: number | null;
  /** Answers that the run has not processed yet. */
  readonly answers: WaitingAnswers;
}

/** The optional parts of a status. */
export interface StatusRequest {
  /** True if the run is to have its archived agents, too; they are read from the journal. */
  readonly all?: boolean;
}

/** Reads the status of a run, given by its id, a unique beginning of it, or `last`. Another process may be driving it. */
export async function readRunStatus(
  runRef: string,
  storage: RunStorage,
  { all = false }: StatusRequest = {},
): Promise<StatusReport> {
  const { runs, journal } = storage;
  const id = await runs.resolve(runRef);
  const { openConversations = null, ...observed } = await runs.observe(id, 'journals');
  const { run } = observed;
  // A process that drives the run takes answers up at once.
  const answers = isLive(observed.observedStatus) ? new Map() : await findWaitingAnswers(storage, run);
  const report = { ...observed, openConversations, answers };
  if (!all || archivedCount(run) === 0) {
    const labels = new AgentLabels(run.agents);
    try {
      return { ...report, history: { ...(await loadHistory(journal, id, run.seq)).history, labels } };
    } catch (error) {
      // The run is whole, or it would not have been loaded.
      if (!(error instanceof RaymondError)) throw error;
      const damage = observed.damage.length > 0 ? observed.damage : [error.message];
      return { ...report, damage, history: { ...new HistoryCollector(0).history, labels } };
    }
  }
  // Events after the observed step would not match it.
  const history = await collectHistory(streamRunEvents(id, storage, run.seq), MAX_TRANSITIONS);
  const archived = await readArchivedAgents(journal, id, run.seq);
  return { ...report, history, run: withArchivedAgents(run, archived, [...history.agents.keys()]) };
}

/** The run as if these agents had not been archived, with all agents in the order of their start. */
function withArchivedAgents(run: Run, archived: readonly Agent[], startOrder: readonly string[]): Run {
  const ranks = new Map(startOrder.map((agent, rank) => [agent, rank]));
  const rankOf = ({ id }: Agent): number => ranks.get(id) ?? -1;
  const agents = [...archived, ...run.agents].toSorted((a, b) => rankOf(a) - rankOf(b));
  return { ...run, agents, archive: { ended: archivedCount(run) - archived.length } };
}

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
