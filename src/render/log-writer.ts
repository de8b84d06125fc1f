import { AgentLabels } from './agent-labels.ts';
import type { LogLine } from './event-renderer.ts';
import type { Colorizer } from './text-style.ts';

const INDENT = '  ';

/**
 * Lays out log lines. Those of a turn are indented below its heading; once running turns are followed and their lines
 * interleave, each line is labelled with its agent.
 */
export class LogWriter {
  /** True if the lines of several turns may interleave from here on. */
  isInterleaved = false;
  private readonly colorize: Colorizer;
  private readonly write: (line: string) => void;
  private readonly labels: AgentLabels;
  /** The agent of the last heading. */
  private headingAgent: string | null = null;
  private isEmpty = true;

  constructor(colorize: Colorizer, write: (line: string) => void, labels = new AgentLabels()) {
    this.colorize = colorize;
    this.write = write;
    this.labels = labels;
  }

  /** Writes a line, indented or labelled as its place demands. */
  writeLine({ agent, indent, text, style, heading = false }: LogLine): void {
    const styledText = style === undefined || text === '' ? text : this.colorize(style, text);
    const needsBlankLine = heading && !this.isEmpty && (agent === null || !this.isInterleaved);
    if (needsBlankLine) this.write('');
    this.isEmpty = false;
    if (heading) this.headingAgent = agent;
    const isBelowHeading = agent === null || heading || (!this.isInterleaved && this.headingAgent === agent);
    const margin = isBelowHeading ? INDENT.repeat(indent) : `[${this.labels.of(agent)}] ${INDENT.repeat(indent - 1)}`;
    this.write(`${margin}${styledText}`.trimEnd());
  }
}
