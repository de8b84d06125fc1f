import type { Carry } from '../catalogue.ts';

export const stop: Carry = async () => {
  throw new Error('not built yet');
};
