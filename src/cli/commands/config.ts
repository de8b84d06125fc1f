import type { Carry } from '../catalogue.ts';

export const config: Carry = async () => {
  throw new Error('not built yet');
};
