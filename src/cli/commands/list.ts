import type { Carry } from '../catalogue.ts';

export const list: Carry = async () => {
  throw new Error('not built yet');
};
