/** A message to an agent, kept until the agent's conversation has it. */
export interface Said {
  readonly id: string;
  readonly text: string;
  /** The sender, and when it was sent. */
  readonly by: string;
  readonly saidAt: number;
  /** The turn that gets it, with its prompt or while it runs; null if it waits for the agent's next prompt. */
  readonly turn: number | null;
  /** True if that turn has got it. */
  readonly delivered: boolean;
}

/** A person wants the running turn of an agent to end, and the agent to continue otherwise in the same conversation. */
export interface TurnInterruption {
  readonly id: string;
  readonly turn: number;
  /** The text that the agent continues with; null to ask the person. */
  readonly text: string | null;
  readonly by: string;
  readonly saidAt: number;
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

/** A person interrupts the running turn of an agent. */
export interface TurnInterrupted extends AgentEvent {
  readonly kind: 'turn_interrupted';
  /** Its id. */
  readonly interrupt: string;
  /** The text that the agent continues with; null if the person is asked. */
  readonly text: string | null;
  readonly by: string;
  readonly saidAt: number;
  /** The turn that ends; null if none does. */
  readonly turn: number | null;
  /** Why nothing is interrupted; null if something is. */
  readonly refused: string | null;
}
