import type { Carry } from '../catalogue.ts';

export const init: Carry = async () => {
  throw new Error('not built yet');
};
