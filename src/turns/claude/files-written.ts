/** A use of a tool that has not come to its end yet. */
type Input = Readonly<Record<string, unknown>>;

const WRITERS: ReadonlySet<string> = new Set(['Write', 'Edit', 'MultiEdit']);

/**
 * Follows in the lines of a turn's output which files were written with the tools for it, and what they held then. What a
 * command wrote is not told anywhere.
 */
export class FilesWritten {
  /** What the files of this turn hold, by the names that were used for them. */
  readonly files = new Map<string, string>();
  /** Files that were edited, but nobody said what they held before. */
  readonly unknown = new Set<string>();
  private readonly before: Map<string, string>;
  private readonly underWay = new Map<string, Input>();

  /** `before` is what is known of files already, and is kept up to date. */
  constructor(before: Map<string, string>) {
    this.before = before;
  }

  hear(line: string): void {
    const { type, message, tool_use_result: told } = mapping(parse(line));
    const { content } = mapping(message);
    for (const block of Array.isArray(content) ? content.map(mapping) : []) {
      if (type === 'assistant' && WRITERS.has(String(block.name))) {
        this.underWay.set(String(block.id), mapping(block.input));
      }
      const input = this.underWay.get(String(block.tool_use_id));
      if (type !== 'user' || input === undefined) continue;
      this.underWay.delete(String(block.tool_use_id));
      if (block.is_error !== true) this.written(input, mapping(told).originalFile);
    }
  }

  private written(input: Input, original: unknown): void {
    const { file_path: name, content } = input;
    if (typeof name !== 'string') return;
    const before = typeof original === 'string' ? original : this.before.get(name);
    const after = typeof content === 'string' ? content : edited(before, input);
    if (after === undefined) {
      this.unknown.add(name);
      return;
    }
    this.unknown.delete(name);
    this.before.set(name, after);
    this.files.set(name, after);
  }
}

/** What an edit makes of a text, or several edits one after the other; undefined if that cannot be known. */
function edited(before: string | undefined, input: Input): string | undefined {
  const edits = Array.isArray(input.edits) ? input.edits.map(mapping) : [input];
  let text = before;
  for (const { old_string: old, new_string: now, replace_all: all } of edits) {
    if (typeof old !== 'string' || typeof now !== 'string') return undefined;
    if (old === '') text = now;
    else if (text?.includes(old)) text = all === true ? text.replaceAll(old, () => now) : text.replace(old, () => now);
    else return undefined;
  }
  return text;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const mapping = (value: unknown): Input =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Input) : {};
