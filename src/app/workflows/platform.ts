import type { Platform } from '../../language/state-names.ts';

/** The platform of this machine. */
export const currentPlatform = (): Platform => (process.platform === 'win32' ? 'windows' : 'unix');
