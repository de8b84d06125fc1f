import type { SaidDelivered, SaidToAgent, TurnInterrupted } from '../core/said.ts';

/** What a person says to an agent, and whether it is heard at once. */
export const formatSaid = ({ by, text, turn, refused }: SaidToAgent): string =>
  refused === null
    ? `${by} says: ${text}${turn === null ? '\n(it waits for the next prompt)' : ''}`
    : `what ${by} says is not delivered, because ${refused}: ${text}`;

/** That an agent has got what was said. */
export const formatDelivery = ({ via, turn }: SaidDelivered): string =>
  via === 'turn' ? 'has heard what was said' : `hears what was said, with the prompt of turn ${turn}`;

/** That a person interrupts an agent, and how it is to go on. */
export function formatInterruption({ by, text, refused }: TurnInterrupted): string {
  if (refused !== null) return `${by} cannot interrupt it, because ${refused}`;
  return `interrupted by ${by}${text === null ? '' : `; it goes on with: ${text}`}`;
}
