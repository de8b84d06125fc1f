import type { Event } from '../core/event.ts';
import type { TestCase } from './suite.ts';

/** What a run warned of, each once, files named as one would write them where the user stands. */
export function collectRunWarnings(events: readonly Event[], { displayPath, states }: TestCase): readonly string[] {
  const messages = events.flatMap((event) => (event.kind === 'warning' ? event.message : []));
  return [...new Set(messages)].map((message) => {
    const file = message.slice(0, message.indexOf(':'));
    return states.includes(file) ? displayPath(file) + message.slice(file.length) : message;
  });
}
