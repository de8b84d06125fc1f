import type { Carry } from '../catalogue.ts';

export const demo: Carry = async () => {
  throw new Error('not built yet');
};
