import type { LogLine } from './event-renderer.ts';
import type { Colorizer } from './text-style.ts';

const INDENT = '  ';

/**
 * Where a story is written down. What belongs to a turn stands under its heading, one turn after the other; once the
 * turns under way are told side by side, each line is labelled with its agent.
 */
export class LogWriter {
  /** Whether turns are told side by side. */
  isInterleaved = false;
  private readonly colorize: Colorizer;
  private readonly write: (line: string) => void;
  /** Whose heading came last. */
  private headingAgent: string | null = null;
  private isEmpty = true;

  constructor(colorize: Colorizer, write: (line: string) => void) {
    this.colorize = colorize;
    this.write = write;
  }

  writeLine({ agent, indent, text, style, heading = false }: LogLine): void {
    const styledText = style === undefined || text === '' ? text : this.colorize(style, text);
    const needsBlankLine = heading && !this.isEmpty && (agent === null || !this.isInterleaved);
    if (needsBlankLine) this.write('');
    this.isEmpty = false;
    if (heading) this.headingAgent = agent;
    const isBelowHeading = agent === null || heading || (!this.isInterleaved && this.headingAgent === agent);
    const margin = isBelowHeading ? INDENT.repeat(indent) : `[${agent}] ${INDENT.repeat(indent - 1)}`;
    this.write(`${margin}${styledText}`.trimEnd());
  }
}
