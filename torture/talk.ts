import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from './random.ts';
import type { Rig } from './rig.ts';

/** Something that was said to the first agent of a run. */
export interface SaidWord {
  readonly word: string;
  /** Whether the command has promised that it is delivered. */
  readonly isPromised: boolean;
}

/** The longest time between two words. */
const MAX_SILENCE_MS = 2_500;

/** Says words to the first agent of a run until it is told to stop, or there are none left. */
export async function talk(rig: Rig, random: Random, said: SaidWord[], most: number, stop: AbortSignal): Promise<void> {
  while (said.length < most) {
    await delay(random.between(0, MAX_SILENCE_MS), undefined, { signal: stop }).catch(() => {});
    if (stop.aborted) return;
    const word = `word-${said.length + 1}-of-the-user`;
    const { code } = await rig.command(['say', rig.id, 'main', `Mind this: ${word}`], null).ended;
    // The run may not be there yet, or not any more.
    if (code !== 64) said.push({ word, isPromised: code === 0 });
  }
}

/** Finds words that the model has got twice in one conversation, or never although that was promised. */
export function checkWords({ api }: Rig, said: readonly SaidWord[], warnings: readonly string[]): readonly string[] {
  const conversations = api.requests.map(({ messages }) => JSON.stringify(messages));
  return said.flatMap(({ word, isPromised }) => {
    const counts = conversations.map((text) => text.split(word).length - 1);
    const most = Math.max(0, ...counts);
    if (most > 1) return [`${word} was said ${most} times in one conversation`];
    const isExcused = !isPromised || warnings.some((warning) => warning.includes(word));
    return most === 0 && !isExcused ? [`${word} was never heard`] : [];
  });
}
