import type { Decision } from '../language/permission.ts';
import type { Step } from './run/event.ts';

/** A request of a person that is on record: the turn gets it now, if there is one that can; in any case the request is settled. */
export type Command =
  | {
      readonly kind: 'message';
      readonly id: string;
      readonly agent: string;
      /** The running turn that gets the message; null if it waits for the agent's next prompt, or is refused. */
      readonly turn: number | null;
      readonly text: string;
    }
  | {
      readonly kind: 'interrupt';
      readonly id: string;
      readonly agent: string;
      /** The turn that ends; null if the interrupt is refused. */
      readonly turn: number | null;
    }
  | {
      readonly kind: 'permission';
      readonly id: string;
      readonly agent: string;
      /** The running turn that waits for the decision; null if it goes with the agent's next prompt. */
      readonly turn: number | null;
      readonly decision: Decision;
    };

/** The commands to deliver once a step is saved. */
export const commandsOf = ({ events }: Pick<Step, 'events'>): readonly Command[] =>
  events.flatMap((event): readonly Command[] => {
    if (event.kind === 'said') {
      const { said: id, agent, turn, text } = event;
      return [{ kind: 'message', id, agent, turn, text }];
    }
    if ((event.kind === 'ask_answered' || event.kind === 'ask_timed_out') && event.permission !== null) {
      const { ask: id, agent, permission } = event;
      return [{ kind: 'permission', id, agent, ...permission }];
    }
    if (event.kind !== 'turn_interrupted') return [];
    const { interrupt: id, agent, turn } = event;
    return [{ kind: 'interrupt', id, agent, turn }];
  });
