import { recordedTurn } from '../core/agent.ts';
import type { Event } from '../core/event.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { Change } from './change.ts';
import type { RunStart, SavedRun } from './saved-run.ts';

/** A run that is ready to go on: from now on its processes carry this mark. */
export type OpenedRun = SavedRun & { readonly mark: string };

/** The first line of a journal, which says how the run began. */
export const firstChange = ({ run, mark, bootId }: RunStart, events: readonly Event[]): Change => ({
  seq: run.seq,
  head: {},
  agents: [],
  events,
  start: { ...run, mark, bootId },
});

/** Finds the turns whose traces may be lost: the machine went down while they were on record, now or earlier. */
export function findDoubtfulTurns(
  { run, doubtful }: SavedRun,
  bootId: string | null,
  earlierBoots: readonly (string | null)[],
): SavedRun['doubtful'] {
  const isRestarted = bootId !== null && earlierBoots.some((each) => each !== null && each !== bootId);
  const underWay = run.agents.flatMap(({ id: agent, phase }) => {
    const turn = recordedTurn(phase);
    return turn === null ? [] : [{ agent, turn: turn.number }];
  });
  return isRestarted ? underWay : underWay.filter((turn) => includesTurn(doubtful, turn));
}

/** Whether a turn is one of these. */
export const includesTurn = (turns: SavedRun['doubtful'], { agent, turn }: SavedRun['doubtful'][number]): boolean =>
  turns.some((each) => each.agent === agent && each.turn === turn);

/** A step of a run that another process has taken over: it is not saved. */
export class TakenOverError extends RaymondError {
  constructor(id: string) {
    super(`Run ${id} is no longer owned by this process: another one has taken it over.`, {
      exitCode: EXIT.paused,
      hint: 'Nothing more is started here. Running turns finish by themselves.',
    });
  }
}

/** The error for a run whose id is taken. */
export const runExistsError = (id: string): RaymondError =>
  new RaymondError(`A run ${id} already exists.`, {
    exitCode: EXIT.usage,
    hint: `Choose another --run-id, or go on with that run: \`raymond resume ${id}\`.`,
  });
