import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionUse } from '../../core/agent.ts';
import type { CostBaseline } from './cost.ts';
import type { Prices } from './prices.ts';
import { findSessionFile, readSavedTotalUsd } from './session-file.ts';

const COST_BASELINE_FILE = 'basis.json';

/** Notes what is known about money before a turn starts: afterwards its conversation has a new total. */
export async function writeCostBaseline(
  dir: string,
  configDir: string,
  cwd: string,
  session: SessionUse,
  prices: Prices,
): Promise<void> {
  const from = session.kind === 'new' ? null : session.kind === 'fork' ? session.from : session.id;
  const file = from === null ? null : await findSessionFile(configDir, cwd, from);
  const baseline: CostBaseline = { savedUsd: file === null ? null : await readSavedTotalUsd(file), prices };
  await writeFile(join(dir, COST_BASELINE_FILE), JSON.stringify(baseline), { mode: 0o600 });
}

/** What was noted. If somebody took the note away, the turn is charged with all that it reports: rather too much. */
export async function readCostBaseline(dir: string): Promise<CostBaseline> {
  try {
    return JSON.parse(await readFile(join(dir, COST_BASELINE_FILE), 'utf8')) as CostBaseline;
  } catch {
    return { savedUsd: null, prices: {} };
  }
}
