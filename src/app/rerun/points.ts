import type { TurnStarted } from '../../core/run/event.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { stem } from '../../language/state-names.ts';
import { didYouMean } from '../../language/text/nearest.ts';
import type { RunStorage } from '../../storage/storage.ts';

/** A turn of a run, as a point to begin at. */
export interface TurnPoint {
  readonly kind: 'turn';
  /** The step that put it on record. */
  readonly seq: number;
  readonly start: TurnStarted;
  /** The number of the run's visit to the state, from 1. */
  readonly visit: number;
  /** True if it is the first turn of the visit. */
  readonly isEntry: boolean;
}

/** A question of a run, as a point to begin at: it is asked again. */
export interface QuestionPoint {
  readonly kind: 'question';
  /** The step that asked it. */
  readonly seq: number;
  readonly ask: string;
  readonly agent: string;
  readonly state: string;
  readonly at: number;
}

/** A point of a run. */
export type RunPoint = TurnPoint | QuestionPoint;

/** Reads the points of a run, in order. */
export async function readPoints(id: string, { journal }: Pick<RunStorage, 'journal'>): Promise<readonly RunPoint[]> {
  const points: RunPoint[] = [];
  const visits = new Map<string, number>();
  for await (const { seq, change } of journal.read(id)) {
    for (const event of change.events) {
      if (event.kind === 'asked')
        points.push({ kind: 'question', seq, ask: event.ask, agent: event.agent, state: event.state, at: event.at });
      if (event.kind !== 'turn_started') continue;
      const { agent, state } = event;
      const changed = change.agents.find((each) => each.id === agent);
      const isEntry = changed !== undefined && Object.hasOwn(changed.visits, state);
      const visit = (visits.get(state) ?? 0) + (isEntry ? 1 : 0);
      visits.set(state, visit);
      points.push({ kind: 'turn', seq, start: event, visit, isEntry });
    }
  }
  return points;
}

/** The name of a point: `main/7`, or the id of a question. */
export const nameOfPoint = (point: RunPoint): string =>
  point.kind === 'question' ? point.ask : `${point.start.agent}/${point.start.turn}`;

/**
 * Finds a point: `REVIEW` (its latest visit), `REVIEW#2` (its second), `main/7`, `7` for `main/7`, or the id of a question. Throws a
 * RaymondError that says which there are.
 */
export function findPoint(run: string, points: readonly RunPoint[], written: string): RunPoint {
  const question = points.findLast((point) => point.kind === 'question' && point.ask === written);
  if (question !== undefined) return question;
  const turns = points.filter((point) => point.kind === 'turn');
  const [, agent = 'main', number] = /^(?:(.+)\/)?(\d+)$/.exec(written) ?? [];
  if (number !== undefined) {
    const turn = turns.findLast(({ start }) => start.agent === agent && start.turn === Number(number));
    if (turn !== undefined) return turn;
    throw noPointError(run, describeMissingTurn(turns, agent, Number(number), written));
  }
  const [, state = written, visit] = /^(.*)#(\d+)$/s.exec(written) ?? [];
  const entries = turns.filter((turn) => turn.isEntry && isNamed(turn.start.state, state));
  if (entries.length === 0) {
    const states = [...new Set(turns.map(({ start }) => start.state))];
    const near = didYouMean(state, [...states, ...states.map(stem)]);
    throw noPointError(
      run,
      `it has no turn in \`${state}\`${near}${states.length === 0 ? ': it has no turns at all' : ''}`,
    );
  }
  const files = [...new Set(entries.map(({ start }) => start.state))];
  if (files.length > 1) throw noPointError(run, `\`${state}\` may be ${files.join(' or ')}`);
  const found = visit === undefined ? entries.at(-1) : entries.find((entry) => entry.visit === Number(visit));
  if (found !== undefined) return found;
  throw noPointError(
    run,
    `it has visited ${files[0]} ${entries.length === 1 ? 'once' : `${entries.length} times`}, not ${visit} times`,
  );
}

/** A state by its file or the name without its ending; that of its workflow may be left out. */
const isNamed = (file: string, name: string): boolean =>
  [file, stem(file)].some((each) => each === name || each.endsWith(`/${name}`));

function describeMissingTurn(turns: readonly TurnPoint[], agent: string, number: number, written: string): string {
  const own = turns.filter(({ start }) => start.agent === agent);
  const last = own.at(-1)?.start.turn;
  if (last !== undefined) return `${agent} has had ${last === 1 ? 'one turn' : `${last} turns`}, not ${number}`;
  const agents = [...new Set(turns.map(({ start }) => start.agent))];
  return `it has no agent \`${agent}\` with a turn${didYouMean(agent, agents)} (\`${written}\` is AGENT/NUMBER)`;
}

const noPointError = (run: string, reason: string): RaymondError =>
  new RaymondError(`The run ${run} does not have this turn: ${reason}.`, {
    exitCode: EXIT.usage,
    hint: `\`raymond rerun ${run}\` lists its turns.`,
  });
