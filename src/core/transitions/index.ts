import { call } from './call.ts';
import { fork } from './fork.ts';
import { callFresh } from './function.ts';
import { goto } from './goto.ts';
import { reset } from './reset.ts';
import { result } from './result.ts';
import type { Transition } from './transition.ts';

/** The language: every tag there is. A new one is a file beside this one and a row here. */
export const TRANSITIONS = {
  goto,
  reset,
  call,
  function: callFresh,
  fork,
  result,
} as const satisfies Record<string, Transition>;

export type TagName = keyof typeof TRANSITIONS;

export const TAG_NAMES = Object.keys(TRANSITIONS) as readonly TagName[];

export const isTagName = (name: string): name is TagName => Object.hasOwn(TRANSITIONS, name);
