import type { Event } from '../core/event.ts';
import type { Piece } from './repertoire.ts';

/** What a run warned of, each once, files named as one would write them where the user stands. */
export function warningsOf(events: readonly Event[], { shown, states }: Piece): readonly string[] {
  const told = events.flatMap((event) => (event.kind === 'warning' ? event.message : []));
  return [...new Set(told)].map((message) => {
    const file = message.slice(0, message.indexOf(':'));
    return states.includes(file) ? shown(file) + message.slice(file.length) : message;
  });
}
