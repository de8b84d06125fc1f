import type { Agent } from '../core/agent.ts';
import { archivedCount } from '../core/archive.ts';
import type { Event } from '../core/event.ts';
import { isLive } from '../core/observed-status.ts';
import type { Run } from '../core/run.ts';
import { RaymondError } from '../errors.ts';
import { AgentLabels } from '../events/agent-labels.ts';
import type { WaitingAnswers } from '../events/questions.ts';
import { collectHistory, HistoryCollector, type RunHistory } from '../events/run-history.ts';
import type { ObservedRun } from '../store/observed-run.ts';
import { MAX_TRANSITIONS } from './history-file.ts';
import { openRuns, type RunLocation } from './open-runs.ts';
import { findWaitingAnswers } from './questions.ts';
import type { RunReader } from './run-reader.ts';

/** The status of a run, with its history. */
export interface StatusReport extends ObservedRun {
  readonly history: RunHistory;
  /** How many processes of Claude Code it keeps open for several turns. */
  readonly openConversations: number;
  /** Answers that the run has not taken up yet. */
  readonly answers: WaitingAnswers;
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
  location: RunLocation = process.cwd(),
  { all = false }: StatusRequest = {},
): Promise<StatusReport> {
  const runs = openRuns(location);
  const id = await runs.resolveRunId(runRef);
  const observed = await observeDamage(runs, await runs.observeRun(id));
  const { run } = observed;
  const openConversations = runs.countOpenConversations(id);
  // A process that drives the run takes answers up at once.
  const answers = isLive(observed.observedStatus) ? new Map() : await findWaitingAnswers(runs, run);
  if (!all || archivedCount(run) === 0) {
    const labels = new AgentLabels(run.agents);
    try {
      return {
        ...observed,
        openConversations,
        answers,
        history: { ...(await runs.loadHistory(id, run.seq)).history, labels },
      };
    } catch (error) {
      // The run is whole, or it would not have been loaded.
      if (!(error instanceof RaymondError)) throw error;
      const damage = observed.damage.length > 0 ? observed.damage : [error.message];
      return {
        ...observed,
        openConversations,
        answers,
        damage,
        history: { ...new HistoryCollector(0).history, labels },
      };
    }
  }
  const history = await collectHistory(eventsUpTo(runs, id, run.seq), MAX_TRANSITIONS);
  const archived = await runs.readArchivedAgents(id, run.seq);
  return {
    ...observed,
    openConversations,
    answers,
    history,
    run: withArchivedAgents(run, archived, [...history.agents.keys()]),
  };
}

const observeDamage = async (runs: RunReader, observed: ObservedRun): Promise<ObservedRun> => ({
  ...observed,
  damage: [...observed.damage, ...(await runs.findDamage(observed))],
});

/** The run as if these agents had not been archived, with all agents in the order of their start. */
function withArchivedAgents(run: Run, archived: readonly Agent[], startOrder: readonly string[]): Run {
  const ranks = new Map(startOrder.map((agent, rank) => [agent, rank]));
  const rankOf = ({ id }: Agent): number => ranks.get(id) ?? -1;
  const agents = [...archived, ...run.agents].toSorted((a, b) => rankOf(a) - rankOf(b));
  return { ...run, agents, archive: { ended: archivedCount(run) - archived.length } };
}

/** Leaves out events after the observed step: they would not match it. */
async function* eventsUpTo(runs: RunReader, id: string, seq: number): AsyncGenerator<Event> {
  for await (const recorded of runs.readEvents(id)) {
    if (recorded.seq > seq) return;
    yield recorded.event;
  }
}
