import type { Carry } from '../catalogue.ts';

export const recover: Carry = async () => {
  throw new Error('not built yet');
};
