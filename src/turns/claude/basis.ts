import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionUse } from '../../core/agent.ts';
import type { CostBasis } from './cost.ts';
import type { Prices } from './prices.ts';
import { savedTotal, sessionFile } from './session-file.ts';

const FILE = 'basis.json';

/** Notes what is known about money before a turn starts: afterwards its conversation has a new total. */
export async function writeBasis(
  dir: string,
  config: string,
  cwd: string,
  use: SessionUse,
  prices: Prices,
): Promise<void> {
  const from = use.kind === 'new' ? null : use.kind === 'fork' ? use.from : use.id;
  const file = from === null ? null : await sessionFile(config, cwd, from);
  const basis: CostBasis = { savedUsd: file === null ? null : await savedTotal(file), prices };
  await writeFile(join(dir, FILE), JSON.stringify(basis), { mode: 0o600 });
}

/** What was noted. If somebody took the note away, the turn is charged with all that it reports: rather too much. */
export async function readBasis(dir: string): Promise<CostBasis> {
  try {
    return JSON.parse(await readFile(join(dir, FILE), 'utf8')) as CostBasis;
  } catch {
    return { savedUsd: null, prices: {} };
  }
}
