import { locatedRef, readTurnLocator } from '../conversations/records.ts';
import { microsToUsd } from '../core/run/ledger.ts';
import type { Unrecorded, UnrecordedTurn } from '../core/signals/signal.ts';
import type { PromptTurn, ScriptTurn, TurnRef } from '../core/turns/due.ts';
import { nameState, workflowNameOf } from '../language/named-workflows.ts';
import { isPrompt, stem } from '../language/state-names.ts';
import { lastWriteTimeMs } from '../process/lines.ts';
import { findTurnProcesses, turnMarker } from '../process/marker.ts';
import { turnFiles } from '../process/turn-files.ts';
import { readTurnCost } from './found-cost.ts';
import type { TurnContext } from './turn-context.ts';

/**
 * Looks whether the turn that should begin now, and perhaps others after it, have begun already: then the journal has lost its
 * end. Undefined if they have not, as always but after such a loss.
 */
export async function findUnrecorded(
  context: TurnContext,
  turn: PromptTurn | ScriptTurn,
): Promise<Unrecorded | undefined> {
  const begun = context.findBegunTurns(turn);
  const [first] = begun;
  if (first === undefined) return undefined;
  const { files } = await context.readScope(turn.state);
  const states = files.map((file) => nameState(workflowNameOf(turn.state), file));
  const turns = await Promise.all(
    begun.map(({ number, stem: name, folder }) => {
      const state = number === turn.number ? turn.state : (states.find((each) => folderStem(each) === name) ?? name);
      return readTurn(context, { agent: turn.agent, number, state }, folder);
    }),
  );
  const base = { kind: 'unrecorded', at: context.clock.now(), agent: turn.agent, turns } as const;
  const found = `${first.folder} is the folder of a turn that has begun, but the journal has no record of it: the end of the journal was lost`;
  const alive = await findLivingProcess(context, turn.agent, begun);
  if (alive !== undefined)
    return { ...base, enter: false, message: `${found}. Process ${alive} of it is still running: ${ALIVE_HINT}` };
  if (!context.retry) return { ...base, enter: false, message: `${found}; ${RETRY_HINT}` };
  return { ...base, enter: true, message: `${found}. ${describeEntered(turns)}` };
}

/** The name of a state as that of a turn's folder has it. */
const folderStem = (state: string): string => stem(state).replaceAll('/', '-');

const RETRY_HINT =
  '`resume --retry` leaves its files as they are, enters its cost and continues behind it; what the turn did may be done again';
const ALIVE_HINT = 'wait for its end, or end it; then `resume --retry` continues';

/** Says what becomes of the turns, and which costs are in the ledger now. */
function describeEntered(turns: readonly UnrecordedTurn[]): string {
  const prompts = turns.filter(({ state }) => isPrompt(state));
  const paid = prompts.filter(({ cost }) => cost !== null);
  const usd = microsToUsd(paid.reduce((sum, { cost }) => sum + (cost?.micros ?? 0), 0));
  const count = turns.length === 1 ? 'It is' : `These ${turns.length} turns are`;
  const missing = prompts.length - paid.length;
  return [
    `${count} left as found, and the run continues behind`,
    ...(paid.length > 0 ? [`; ${usd} dollars that they cost are entered`] : []),
    ...(missing > 0 ? [`; the cost of ${missing} of them is missing, because it cannot be read`] : []),
  ].join('');
}

/** Reads what is known about a turn from its files. */
async function readTurn(context: TurnContext, turn: TurnRef, folder: string): Promise<UnrecordedTurn> {
  const { stdin, started, stdout, stderr } = turnFiles(folder);
  const endMs = await lastWriteTimeMs([started, stdout, stderr]);
  // The prompt is written right before the start; a script has none.
  const startMs = (await lastWriteTimeMs([stdin])) || endMs;
  const [startedAt, endedAt] = [startMs, endMs].map((ms) => context.clock.fromFileTime(Math.round(ms)));
  const { number, state } = turn;
  const times = { startedAt: startedAt ?? 0, endedAt: endedAt ?? 0 };
  if (!isPrompt(state)) return { number, state, session: null, cost: null, ...times };
  return { number, state, ...(await readTurnCost(context, turn, folder)), ...times };
}

async function findLivingProcess(
  context: TurnContext,
  agent: string,
  turns: ReturnType<TurnContext['findBegunTurns']>,
): Promise<number | undefined> {
  for (const { number, folder } of turns) {
    const locator = readTurnLocator(folder);
    const open = locator === null ? null : locatedRef(context, agent, locator);
    const [alive] = [
      ...(await findTurnProcesses(folder, turnMarker(context, { agent, number }))),
      ...(open === null ? [] : await findTurnProcesses(open.dir, open.marker)),
    ];
    if (alive !== undefined) return alive.pid;
  }
  return undefined;
}
