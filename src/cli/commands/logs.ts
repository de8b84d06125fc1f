import type { Carry } from '../catalogue.ts';

export const logs: Carry = async () => {
  throw new Error('not built yet');
};
