import { z } from 'zod';
import { diffRun } from '../../app/diff.ts';
import { readSteps } from '../../app/run-files.ts';
import { readRunStatus } from '../../app/status.ts';
import { readSaidTurns, readTurnDetail } from '../../app/turns/turn-detail.ts';
import type { Event, TurnEnded, TurnStarted } from '../../core/run/event.ts';
import { correctTurn } from '../../core/run/worker-event.ts';
import { turnRefOf } from '../../core/turns/due.ts';
import { createDiffDocument } from '../../documents/diff-document.ts';
import { createEventDocument, createLogEntryDocument } from '../../documents/event-document.ts';
import { DOCUMENTS } from '../../documents/schemas.ts';
import type { ListedTurnDocument, PartialTextDocument } from '../../documents/types.ts';
import { RaymondError } from '../../errors.ts';
import type { RunStorage } from '../../storage/storage.ts';
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
    response: DOCUMENTS.TurnList,
    handle: async ({ params, query }, { catalog }) => {
      const { storage } = await catalog.project(params.project ?? '');
      const { run } = await readRunStatus(params.run ?? '', storage);
      const turns = await collectTurns(run.id, storage, query);
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
    response: DOCUMENTS.TurnDeltas,
    handle: async ({ params, query }, { catalog }) => {
      const { storage } = await catalog.project(params.project ?? '');
      const { run } = await readRunStatus(params.run ?? '', storage);
      const ended = (await collectTurns(run.id, storage, {})).filter(({ end }) => end !== null);
      const latest = ended.toSorted((a, b) => (a.end?.at ?? 0) - (b.end?.at ?? 0)).slice(-query.limit);
      const said = await readSaidTurns(
        run.id,
        storage,
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
    response: DOCUMENTS.Turn,
    handle: async ({ params }, { catalog }) => {
      const { storage } = await catalog.project(params.project ?? '');
      const { agent = '', turn = '', run = '' } = params;
      if (!/^\d{1,9}$/.test(turn)) throw new Problem(404, `There is no turn ${turn}.`);
      const detail = await readTurnDetail(run, storage, { agent, number: Number(turn) });
      const record = await findTurn(run, storage, { agent, turn: Number(turn) });
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
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/turns/{agent}/{turn}/diff',
    summary: 'Shows how the files changed during one turn.',
    responds: 'As `raymond diff --json`: by folder, the `files` with their lines, and the `patch`.',
    response: DOCUMENTS.Diff,
    handle: async ({ params }, { catalog }) => {
      const project = await catalog.project(params.project ?? '');
      const { agent = '', turn = '', run = '' } = params;
      if (!/^\d{1,9}$/.test(turn)) throw new Problem(404, `There is no turn ${turn}.`);
      return createDiffDocument(await diffRun(project, run, `${agent}/${turn}`));
    },
  }),
];

const toTextDocument = ({ text, isCut }: { readonly text: string; readonly isCut: boolean }): PartialTextDocument => ({
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
  storage: RunStorage,
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
    if (event.kind === 'cost_corrected') {
      const turn = turns.findLast(({ start }) => start.agent === event.agent && start.turn === event.turn);
      if (turn !== undefined && turn.end !== null) turn.end = correctTurn(turn.end, event);
    }
    if (event.kind !== 'turn_ended') return;
    const turn = open.get(event.agent);
    open.delete(event.agent);
    if (turn?.start.turn === event.turn) turn.end = event;
  };
  for await (const { seq, events } of readSteps(id, storage, -1)) for (const event of events) add(seq, event);
  return turns;
}

/** The turn in the journal; null if that does not tell, because it is damaged. */
async function findTurn(
  runRef: string,
  storage: RunStorage,
  { agent, turn }: { readonly agent: string; readonly turn: number },
): Promise<ListedTurn | null> {
  try {
    const { run } = await readRunStatus(runRef, storage);
    const turns = await collectTurns(run.id, storage, { agent });
    return turns.find(({ start }) => start.turn === turn) ?? null;
  } catch (error) {
    if (error instanceof RaymondError) return null;
    throw error;
  }
}

function toTurnDocument({ startedSeq, start, end }: ListedTurn): ListedTurnDocument {
  const { kind: _, at: startedAt, ...started } = createEventDocument(start);
  const turn = { started_seq: startedSeq, started_at: startedAt, ended_at: null, ...started };
  if (end === null) return turn;
  const { at, cost_usd, estimated, canned, tokens, duration_ms, failure, denials } = createEventDocument(end);
  return { ...turn, ended_at: at, cost_usd, estimated, canned, tokens, duration_ms, failure, denials };
}
