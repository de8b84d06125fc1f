import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ClaudeVersion } from '../../src/turns/claude/find-claude.ts';

/** A real Claude Code of a known version. */
export interface Pinned {
  readonly version: ClaudeVersion;
  readonly path: string;
  readonly isInstalled: boolean;
}

/** A placeholder is a short text; the program is not. */
const SMALLEST_PROGRAM = 1_000_000;

const pin = (version: ClaudeVersion): Pinned => {
  const path = join(import.meta.dirname, 'node_modules', `claude-code-${version[2]}`, 'bin', 'claude.exe');
  return { version, path, isInstalled: existsSync(path) && statSync(path).size > SMALLEST_PROGRAM };
};

/** One version that counts costs per call, and one that counts them per conversation. `install.mjs` installs them. */
export const PINNED: readonly Pinned[] = [pin([2, 1, 197]), pin([2, 1, 325])];
