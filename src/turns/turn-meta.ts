import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_CLAUDE_TIMEOUT_MS } from '../core/options/option-rows.ts';
import type { Options } from '../core/options/options.ts';
import type { PromptTurn, ScriptTurn } from '../core/turns/due.ts';
import { readJsonFile } from '../json-file.ts';
import type { State } from '../language/state.ts';
import type { TurnContext } from './turn-context.ts';
import type { TurnMeta } from './turn-meta-schema.ts';

/** The file in a turn's folder that holds its TurnMeta. */
export const TURN_META_FILE = 'turn.json';

/** The timeout of a turn in this state. */
export function createTurnMeta(state: State, options: Options): TurnMeta {
  if (state.timeoutMs !== null) return timeout(state.timeoutMs, `\`timeout\` in ${state.file}`);
  if (options.timeoutMs !== null) return timeout(options.timeoutMs, '--timeout or the config file');
  return defaultTimeout(state.kind);
}

const timeout = (ms: number, from: string): TurnMeta => ({ timeoutMs: ms === 0 ? null : ms, timeoutFrom: from });

/** A tool of Claude Code may be silent for ten minutes, and a script for as long as it likes. */
const defaultTimeout = (kind: State['kind']): TurnMeta =>
  timeout(kind === 'script' ? 0 : DEFAULT_CLAUDE_TIMEOUT_MS, 'the default');

/**
 * The TurnMeta in a turn's folder, written before the turn began. A script without a timeout has none. If the file is
 * damaged, the author is warned and the default applies: a timeout can only end a turn that hangs, so a wrong one costs
 * less than a turn that is given up.
 */
export async function readTurnMeta(context: TurnContext, turn: PromptTurn | ScriptTurn): Promise<TurnMeta> {
  const file = join(context.folderOf(turn), TURN_META_FILE);
  if (existsSync(file)) {
    const { TURN_META_SCHEMA } = await import('./turn-meta-schema.ts');
    const found = readJsonFile(file, TURN_META_SCHEMA);
    if (found.kind === 'data') return found.data;
    if (found.kind === 'damaged') context.warn(turn, `${found.message}. The turn has the default timeout.`);
  }
  return defaultTimeout(turn.kind === 'script' ? 'script' : 'prompt');
}

/** The message about a turn that was silent for too long. */
export const describeTimeout = ({ timeoutMs, timeoutFrom }: TurnMeta): string =>
  `no output for ${(timeoutMs ?? 0) / 1000} s, the limit set by ${timeoutFrom}`;
