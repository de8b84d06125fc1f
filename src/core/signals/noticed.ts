import type { Step } from '../run/event.ts';
import type { Run } from '../run/run.ts';
import type { Noticed } from './signal.ts';

/** Puts a warning on record. Nothing else changes. */
export const handleNoticed = (run: Run, { at, about, message }: Noticed): Step => ({
  run,
  events: [{ kind: 'warning', at, agent: about.agent, state: about.state, message }],
});
