import { recordedTurn } from '../core/run/agent.ts';
import type { Change } from '../core/run/change.ts';
import type { Event } from '../core/run/event.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { RunStart, SavedRun } from './run-file.ts';

/** A run that is ready to continue: from now on its processes carry this mark. */
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

/** True if a turn is one of these. */
export const includesTurn = (turns: SavedRun['doubtful'], { agent, turn }: SavedRun['doubtful'][number]): boolean =>
  turns.some((each) => each.agent === agent && each.turn === turn);

/** The error for a run that another process has by now: nothing is saved or started here. */
export class LeaseLostError extends RaymondError {
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
    hint: `Choose another --run-id, or continue with that run: \`raymond resume ${id}\`.`,
  });

/** The error for a run that cannot be acquired because a process drives it. */
export class RunDrivenError extends RaymondError {}

/** The error for a run that does not exist, with a suggestion and a hint. */
export const noSuchRunError = (
  id: string,
  suggestion = '',
  hint = '`raymond list` shows the runs there are.',
): RaymondError => new RaymondError(`no such run: ${id}${suggestion}`, { exitCode: EXIT.usage, hint });
