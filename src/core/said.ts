/** What a person has said to an agent, kept until the agent's conversation has it. */
export interface Said {
  readonly id: string;
  readonly text: string;
  /** Who said it, and when. */
  readonly by: string;
  readonly saidAt: number;
  /** The turn that gets it, with its prompt or while it runs; null if it waits for the agent's next prompt. */
  readonly turn: number | null;
  /** Whether that turn has got it. */
  readonly heard: boolean;
}

interface AgentEvent {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly agent: string;
  /** The state that the agent was in; empty if there is no such agent. */
  readonly state: string;
}

/** A person has said something to an agent. */
export interface SaidToAgent extends AgentEvent {
  readonly kind: 'said';
  /** Its id. */
  readonly said: string;
  readonly text: string;
  readonly by: string;
  readonly saidAt: number;
  /** The running turn that it is written into; null if it waits for the agent's next prompt. */
  readonly turn: number | null;
  /** Why it is not delivered at all; null if it is. */
  readonly refused: string | null;
}

/** A turn has got what was said: with its prompt, or while it ran. */
export interface SaidDelivered extends AgentEvent {
  readonly kind: 'said_delivered';
  readonly said: string;
  readonly turn: number;
  readonly via: 'turn' | 'prompt';
}
