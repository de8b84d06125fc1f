import type { SaidDelivered, SaidToAgent, TurnInterrupted } from '../core/run/said.ts';

/** Describes a message to an agent, and whether it arrives at once. */
export const formatSaid = ({ by, text, turn, refused }: SaidToAgent): string =>
  refused === null
    ? `${by} says: ${text}${turn === null ? '\n(it waits for the next prompt)' : ''}`
    : `what ${by} says is not delivered, because ${refused}: ${text}`;

/** That an agent has got what was said. */
export const formatDelivery = ({ via, turn }: SaidDelivered): string =>
  via === 'turn' ? 'has heard what was said' : `hears what was said, with the prompt of turn ${turn}`;

/** That a person interrupts an agent, and how it is to continue. */
export function formatInterruption({ by, text, refused }: TurnInterrupted): string {
  if (refused !== null) return `${by} cannot interrupt it, because ${refused}`;
  return `interrupted by ${by}${text === null ? '' : `; it continues with: ${text}`}`;
}
