import { z } from 'zod';
import { turnRefOf } from '../../core/due.ts';
import type { Event, TurnEnded, TurnStarted } from '../../core/event.ts';
import { RaymondError } from '../../errors.ts';
import { createEventDocument } from '../../events/event-document.ts';
import { formatIso } from '../../events/format.ts';
import { createLogEntryDocument } from '../../events/log-entry-document.ts';
import { readSteps } from '../../runtime/follow-run.ts';
import type { RunLocation } from '../../runtime/open-runs.ts';
import { readSaidTurns } from '../../runtime/said-turns.ts';
import { getStatus } from '../../runtime/status.ts';
import { readTurnDetail } from '../../runtime/turn-detail.ts';
import { Problem } from '../problem.ts';
import { defineRoute, type Route } from '../route.ts';
import { toDeltaDocument } from '../run-feed.ts';
import { countParam } from './run-requests.ts';

const TURN_FILTERS = z.strictObject({
  agent: z.string().optional(),
  state: z.string().optional(),
  limit: countParam(10_000, 1_000),
  before: z.coerce.number().int().optional().describe('Only turns that started before this step: `started_seq`.'),
});

/** The routes of turns. */
export const TURN_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/turns',
    summary: 'Lists the turns of a run, the latest of those that fit, in order.',
    query: TURN_FILTERS,
    responds:
      'The `turns`, each with its start, its end (null while it runs) and `started_seq`, and the `total` that fit.',
    handle: async ({ params, query }, { catalog }) => {
      const { location } = (await catalog.project(params.project ?? '')).control;
      const { run } = await getStatus(params.run ?? '', location);
      const turns = await collectTurns(run.id, location, query);
      return { total: turns.length, turns: turns.slice(-query.limit).map(toTurnDocument) };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/said',
    summary: 'Tells what the latest turns that have ended said and did.',
    query: z.strictObject({ limit: countParam(500, 100).describe('Of how many turns.') }),
    responds:
      'The `turns`, in the order of their ends, as in a message `delta` of the events: the last entries of each.',
    handle: async ({ params, query }, { catalog }) => {
      const { location } = (await catalog.project(params.project ?? '')).control;
      const { run } = await getStatus(params.run ?? '', location);
      const ended = (await collectTurns(run.id, location, {})).filter(({ end }) => end !== null);
      const latest = ended.toSorted((a, b) => (a.end?.at ?? 0) - (b.end?.at ?? 0)).slice(-query.limit);
      const said = await readSaidTurns(
        { id: run.id, location },
        latest.map(({ start }) => turnRefOf(start)),
      );
      return { turns: said.map(toDeltaDocument) };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/turns/{agent}/{turn}',
    summary: 'Shows one turn: the prompt as it was sent, the answer, what was said and done, and stderr.',
    responds:
      'Its `record` as in the list, the `prompt` (null for a script), `answer` and `stderr`, the `entries`, and the files it changed.',
    handle: async ({ params }, { catalog }) => {
      const { location } = (await catalog.project(params.project ?? '')).control;
      const { agent = '', turn = '', run = '' } = params;
      if (!/^\d{1,9}$/.test(turn)) throw new Problem(404, `There is no turn ${turn}.`);
      const detail = await readTurnDetail(run, location, { agent, number: Number(turn) });
      const record = await findTurn(run, location, { agent, turn: Number(turn) });
      const { prompt, answer, stderr, entries, entriesLeftOut, changedFiles } = detail;
      return {
        agent,
        turn: Number(turn),
        record: record && toTurnDocument(record),
        prompt: prompt && toTextDocument(prompt),
        answer: toTextDocument(answer),
        stderr: toTextDocument(stderr),
        entries: entries.map((entry) => createLogEntryDocument(entry)),
        entries_left_out: entriesLeftOut,
        changed_files: changedFiles,
      };
    },
  }),
];

const toTextDocument = ({ text, isCut }: { readonly text: string; readonly isCut: boolean }): object => ({
  text,
  is_cut: isCut,
});

interface ListedTurn {
  readonly startedSeq: number;
  readonly start: TurnStarted;
  end: TurnEnded | null;
}

type TurnFilters = Partial<Pick<z.infer<typeof TURN_FILTERS>, 'agent' | 'state' | 'before'>>;

async function collectTurns(
  id: string,
  location: RunLocation,
  { agent, state, before = Number.POSITIVE_INFINITY }: TurnFilters,
): Promise<readonly ListedTurn[]> {
  const turns: ListedTurn[] = [];
  const open = new Map<string, ListedTurn>();
  const isWanted = (event: TurnStarted): boolean =>
    (agent === undefined || event.agent === agent) && (state === undefined || event.state === state);
  const add = (seq: number, event: Event): void => {
    if (event.kind === 'turn_started' && seq < before && isWanted(event)) {
      const turn = { startedSeq: seq, start: event, end: null };
      open.set(event.agent, turn);
      turns.push(turn);
    }
    if (event.kind !== 'turn_ended') return;
    const turn = open.get(event.agent);
    open.delete(event.agent);
    if (turn?.start.turn === event.turn) turn.end = event;
  };
  for await (const { seq, events } of readSteps(id, location, -1)) for (const event of events) add(seq, event);
  return turns;
}

/** The turn in the journal; null if that does not tell, because it is damaged. */
async function findTurn(
  runRef: string,
  location: RunLocation,
  { agent, turn }: { readonly agent: string; readonly turn: number },
): Promise<ListedTurn | null> {
  try {
    const { run } = await getStatus(runRef, location);
    const turns = await collectTurns(run.id, location, { agent });
    return turns.find(({ start }) => start.turn === turn) ?? null;
  } catch (error) {
    if (error instanceof RaymondError) return null;
    throw error;
  }
}

function toTurnDocument({ startedSeq, start, end }: ListedTurn): object {
  const { kind: _, at: __, ...started } = createEventDocument(start) as Record<string, unknown>;
  const ended = end === null ? null : (createEventDocument(end) as Record<string, unknown>);
  return {
    started_seq: startedSeq,
    started_at: formatIso(start.at),
    ended_at: end === null ? null : formatIso(end.at),
    ...started,
    ...(ended !== null &&
      pick(ended, ['cost_usd', 'estimated', 'canned', 'tokens', 'duration_ms', 'failure', 'denials'])),
  };
}

const pick = (document: Record<string, unknown>, keys: readonly string[]): object =>
  Object.fromEntries(keys.map((key) => [key, document[key]]));
