import type { Dye } from './ink.ts';
import type { Told } from './story.ts';

const STEP = '  ';

/**
 * Where a story is written down. What belongs to a turn stands under its heading, one turn after the other; once the
 * turns under way are told side by side, each line is labelled with its agent.
 */
export class Page {
  /** Whether turns are told side by side. */
  sideBySide = false;
  private readonly dye: Dye;
  private readonly write: (line: string) => void;
  /** Whose heading came last. */
  private under: string | null = null;
  private isEmpty = true;

  constructor(dye: Dye, write: (line: string) => void) {
    this.dye = dye;
    this.write = write;
  }

  put({ agent, indent, text, ink, heading = false }: Told): void {
    const words = ink === undefined || text === '' ? text : this.dye(ink, text);
    const isApart = heading && !this.isEmpty && (agent === null || !this.sideBySide);
    if (isApart) this.write('');
    this.isEmpty = false;
    if (heading) this.under = agent;
    const isUnder = agent === null || heading || (!this.sideBySide && this.under === agent);
    const margin = isUnder ? STEP.repeat(indent) : `[${agent}] ${STEP.repeat(indent - 1)}`;
    this.write(`${margin}${words}`.trimEnd());
  }
}
