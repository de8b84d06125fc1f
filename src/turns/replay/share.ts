import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { microsToUsd, usdToMicros } from '../../core/run/ledger.ts';
import type { ClaudeTurn } from '../../core/turns/due.ts';
import { readJsonFile } from '../../json-file.ts';
import type { CannedAnswer } from '../../scenario/scenario.ts';
import type { TurnContext } from '../turn-context.ts';

const PAID_SHARES_SCHEMA = z.object({ paidMicros: z.number(), stops: z.number() });

/** The share of earlier turns of a visit in its next answer: what they paid, and how many were stopped. */
export type PaidShares = z.infer<typeof PAID_SHARES_SCHEMA>;

const PAID_SHARES_FILE = 'shares.json';
const NOTHING_PAID: PaidShares = { paidMicros: 0, stops: 0 };

/** The amount paid before this turn, as the previous turn left it in its folder. */
export function readPaidShares(context: TurnContext, turn: ClaudeTurn): PaidShares {
  if (turn.attempt === 1) return NOTHING_PAID;
  const file = join(context.folderOf({ ...turn, number: turn.number - 1 }), PAID_SHARES_FILE);
  const found = readJsonFile(file, PAID_SHARES_SCHEMA);
  return found.kind === 'data' ? found.data : NOTHING_PAID;
}

/**
 * The part of an answer that is played now. Like Claude Code, a turn stops where its share of the budget is used up, and
 * the next one continues with what is left to pay. The last share of a run is not cut: it ends with the answer.
 */
export function cutToShare(turn: ClaudeTurn, answer: CannedAnswer, { paidMicros }: PaidShares): CannedAnswer {
  const totalMicros = usdToMicros(answer.costUsd);
  const leftMicros = Math.max(0, totalMicros - paidMicros);
  const { budgetMicros, isShare } = turn;
  const stops = isShare && budgetMicros !== null && leftMicros > budgetMicros && answer.fail === null;
  if (!stops && paidMicros === 0) return answer;
  const nowMicros = stops ? budgetMicros : leftMicros;
  const part = {
    ...answer,
    costUsd: microsToUsd(nowMicros),
    seconds: totalMicros === 0 ? answer.seconds : (answer.seconds * nowMicros) / totalMicros,
  };
  return stops ? { ...part, fail: 'budget', text: '', write: {}, uses: [], deny: [], crash: false } : part;
}

/** Leaves in the folder of a turn what was paid, for the turn after it. */
export function writePaidShares(dir: string, before: PaidShares, answer: CannedAnswer, part: CannedAnswer): void {
  const stopped = answer.fail === null && part.fail === 'budget';
  if (!stopped && before.stops === 0) return;
  const after: PaidShares = stopped
    ? { paidMicros: before.paidMicros + usdToMicros(part.costUsd), stops: before.stops + 1 }
    : { paidMicros: 0, stops: before.stops };
  writeFileSync(join(dir, PAID_SHARES_FILE), JSON.stringify(after), { mode: 0o600 });
}
