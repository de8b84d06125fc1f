import type { Carry } from '../catalogue.ts';

export const doctor: Carry = async () => {
  throw new Error('not built yet');
};
