import type { Platform } from '../core/state-names.ts';

/** The kind of machine that this is. */
export const currentPlatform = (): Platform => (process.platform === 'win32' ? 'windows' : 'unix');
