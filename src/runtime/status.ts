import type { Agent } from '../core/agent.ts';
import { archivedCount } from '../core/archive.ts';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { RaymondError } from '../errors.ts';
import { AgentLabels } from '../events/agent-labels.ts';
import { collectHistory, HistoryCollector, type RunHistory } from '../events/run-history.ts';
import { readArchivedAgents } from '../store/archived-agents.ts';
import { findJournalDamage } from '../store/damage.ts';
import { readEvents } from '../store/journal-events.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { type ObservedRun, observeRun } from '../store/observed-run.ts';
import { resolveRunId } from '../store/runs.ts';
import { loadHistory, MAX_TRANSITIONS } from './history-file.ts';
import { countOpenConversations } from './open-conversations.ts';

/** The status of a run, with its history. */
export interface StatusReport extends ObservedRun {
  readonly history: RunHistory;
  /** How many processes of Claude Code it keeps open for several turns. */
  readonly openConversations: number;
}

/** What a status is to include besides the run. */
export interface StatusRequest {
  /** Whether the run is to have its archived agents, too; they are read from the journal. */
  readonly all?: boolean;
}

/**
 * Reads the status of a run, given by its id, a unique beginning of it, or `last`. Another process may be driving it.
 */
export async function getStatus(
  runRef: string,
  cwd = process.cwd(),
  { all = false }: StatusRequest = {},
): Promise<StatusReport> {
  const layout = findLayout(cwd);
  const id = await resolveRunId(layout, runRef);
  const observed = await observeDamage(layout, await observeRun(layout, id));
  const { run } = observed;
  const openConversations = countOpenConversations(layout, id);
  if (!all || archivedCount(run) === 0) {
    const labels = new AgentLabels(run.agents);
    try {
      return {
        ...observed,
        openConversations,
        history: { ...(await loadHistory(layout, id, run.seq)).history, labels },
      };
    } catch (error) {
      // The run is whole, or it would not have been loaded.
      if (!(error instanceof RaymondError)) throw error;
      const damage = observed.damage.length > 0 ? observed.damage : [error.message];
      return { ...observed, openConversations, damage, history: { ...new HistoryCollector(0).history, labels } };
    }
  }
  const history = await collectHistory(eventsUpTo(layout, id, run.seq), MAX_TRANSITIONS);
  const archived = await readArchivedAgents(layout, id, run.seq);
  return {
    ...observed,
    openConversations,
    history,
    run: withArchivedAgents(run, archived, [...history.agents.keys()]),
  };
}

/** Of a longer journal than this, a status does not check the part that it need not read; a list does. */
const MAX_CHECKED_BYTES = 16 * 1024 * 1024;

async function observeDamage(layout: StoreLayout, observed: ObservedRun): Promise<ObservedRun> {
  const { run, journal, damage } = observed;
  if (journal.offset > MAX_CHECKED_BYTES) return observed;
  return {
    ...observed,
    damage: [...damage, ...(await findJournalDamage(run.id, layout.journalFile(run.id), journal))],
  };
}

/** The run as if these agents had not been archived, with all agents in the order of their start. */
function withArchivedAgents(run: Run, archived: readonly Agent[], startOrder: readonly string[]): Run {
  const ranks = new Map(startOrder.map((agent, rank) => [agent, rank]));
  const rankOf = ({ id }: Agent): number => ranks.get(id) ?? -1;
  const agents = [...archived, ...run.agents].toSorted((a, b) => rankOf(a) - rankOf(b));
  return { ...run, agents, archive: { ended: archivedCount(run) - archived.length } };
}

/** Leaves out events after the observed step: they would not match it. */
async function* eventsUpTo(layout: StoreLayout, id: string, seq: number): AsyncGenerator<Event> {
  for await (const recorded of readEvents(layout, id)) {
    if (recorded.seq > seq) return;
    yield recorded.event;
  }
}
