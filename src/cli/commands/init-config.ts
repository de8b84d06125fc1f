import type { Terminal } from '../terminal.ts';

export async function initConfig(_terminal: Terminal): Promise<number> {
  throw new Error('not built yet');
}
