import { createPrintReader, readPrints } from '../../language/tags/prints.ts';
import { unsaidText } from './activity.ts';
import type { ClaudeEvent } from './event.ts';

/** Creates a reader for the texts of the `<print>`s in the events of one turn. Those of sub-agents are not for the user. */
export function createClaudePrintReader(): (event: ClaudeEvent) => readonly string[] {
  let message = { id: '', text: '', reader: createPrintReader() };
  return (event) => {
    if (event.kind === 'result') return readPrints(unsaidText(event, message.text) ?? '').prints;
    if (event.kind !== 'assistant' || event.synthetic || event.thread !== null || event.text === null) return [];
    const { messageId: id, text } = event;
    if (id !== message.id) message = { id, text: '', reader: createPrintReader() };
    message.text += text;
    return message.reader.push(text).prints;
  };
}
