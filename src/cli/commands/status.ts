import type { Carry } from '../catalogue.ts';

export const status: Carry = async () => {
  throw new Error('not built yet');
};
