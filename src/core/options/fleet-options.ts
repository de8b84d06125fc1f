import { choice, type OptionRow } from './option-types.ts';

/** The fate of an agent whose node is gone. */
export type WhenLost = 'wait' | 'rehome' | 'fail';

/** The option that says what becomes of an agent whose worker is gone. */
export const WHEN_LOST_OPTION: OptionRow<WhenLost> = {
  key: 'when_lost',
  type: choice('wait', 'rehome', 'fail'),
  default: 'wait',
  argument: '<mode>',
  help: 'an agent whose worker is gone: wait for that worker, rehome it at another one, or fail; only with a database',
};
