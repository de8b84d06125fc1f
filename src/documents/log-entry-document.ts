import type { LogEntry } from '../render/turn-renderer.ts';
import type { LogEntryDocument } from './types.ts';

/** Creates the JSON document of something that a turn said or did; its text is cut to `maxChars`. */
export function createLogEntryDocument(entry: LogEntry, maxChars = Number.POSITIVE_INFINITY): LogEntryDocument {
  switch (entry.kind) {
    case 'gets': {
      const { kind, id, isError, text, below } = entry;
      return { kind, id, is_error: isError, text: cut(text, maxChars), below };
    }
    case 'prints':
      return { kind: entry.kind, text: cut(entry.text, maxChars), is_error: entry.isError ?? false };
    case 'retries': {
      const { delayMs, ...rest } = entry;
      return { ...rest, delay_ms: delayMs };
    }
    case 'uses':
      return { ...entry, detail: cut(entry.detail, maxChars) };
    case 'asked':
    case 'says':
      return { ...entry, text: cut(entry.text, maxChars) };
    case 'left_out':
      return entry;
  }
}

const cut = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '')}…`;
