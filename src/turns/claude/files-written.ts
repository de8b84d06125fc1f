import { tryParseJson } from '../../language/text/json.ts';

/** The input of a tool. */
type ToolInput = Readonly<Record<string, unknown>>;

const WRITE_TOOLS: ReadonlySet<string> = new Set(['Write', 'Edit', 'MultiEdit']);

/**
 * Collects from the lines of a turn's output which files its tools have written, and their contents. Files that a shell
 * command has written are not in the output.
 */
export class FilesWritten {
  /** The contents of the files that this turn wrote, by the names that it used. */
  readonly files = new Map<string, string>();
  /** Files that were edited, but whose contents before are not known. */
  readonly unknown = new Set<string>();
  private readonly knownFiles: Map<string, string>;
  private readonly pendingInputs = new Map<string, ToolInput>();

  /** `knownFiles` has the contents of files that are known already, and is kept up to date. */
  constructor(knownFiles: Map<string, string>) {
    this.knownFiles = knownFiles;
  }

  addLine(line: string): void {
    const { type, message, tool_use_result: toolUseResult } = asRecord(tryParseJson(line));
    const { content } = asRecord(message);
    for (const block of Array.isArray(content) ? content.map(asRecord) : []) {
      if (type === 'assistant' && WRITE_TOOLS.has(String(block.name))) {
        this.pendingInputs.set(String(block.id), asRecord(block.input));
      }
      const input = this.pendingInputs.get(String(block.tool_use_id));
      if (type !== 'user' || input === undefined) continue;
      this.pendingInputs.delete(String(block.tool_use_id));
      if (block.is_error !== true) this.recordWrite(input, asRecord(toolUseResult).originalFile);
    }
  }

  private recordWrite(input: ToolInput, original: unknown): void {
    const { file_path: name, content } = input;
    if (typeof name !== 'string') return;
    const before = typeof original === 'string' ? original : this.knownFiles.get(name);
    const after = typeof content === 'string' ? content : applyEdits(before, input);
    if (after === undefined) {
      this.unknown.add(name);
      return;
    }
    this.unknown.delete(name);
    this.knownFiles.set(name, after);
    this.files.set(name, after);
  }
}

/** Applies one or several edits to a text; undefined if the result cannot be known. */
function applyEdits(before: string | undefined, input: ToolInput): string | undefined {
  const edits = Array.isArray(input.edits) ? input.edits.map(asRecord) : [input];
  let text = before;
  for (const { old_string: old, new_string: replacement, replace_all: all } of edits) {
    if (typeof old !== 'string' || typeof replacement !== 'string') return undefined;
    if (old === '') text = replacement;
    else if (text?.includes(old))
      text = all === true ? text.replaceAll(old, () => replacement) : text.replace(old, () => replacement);
    else return undefined;
  }
  return text;
}

const asRecord = (value: unknown): ToolInput =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ToolInput) : {};
