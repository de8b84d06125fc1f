import { shortened } from '../core/problem.ts';
import type { Tag } from '../core/tag.ts';
import { type TagName, TRANSITIONS } from '../core/transitions/index.ts';
import { UNKNOWN } from './mentions.ts';
import type { Step } from './reach.ts';

/** A tag as a message quotes it. */
export function showTag(name: TagName, { body }: Pick<Tag, 'body'>): string {
  const written = shortened(body.replaceAll(UNKNOWN, '…').replace(/\s+/g, ' '));
  return TRANSITIONS[name].body === 'text' ? `\`<${name}>\`` : `\`<${name}>${written}</${name}>\``;
}

/** A tag as a message quotes it where its attributes matter. */
export function showWhole(name: TagName, { body, attributes }: Pick<Tag, 'body' | 'attributes'>): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${shortened(value)}"`);
  return showTag(name, { body }).replace(`<${name}`, () => `<${name}${given.join('')}`);
}

/** What to do about a `$` that was meant as a variable and is none. */
export const DOUBLE_QUOTES =
  "Use double quotes, or `<<EOF` without quotes: between single quotes, and after `<<'EOF'`, a `$` is a character like others.";

const ANY = '(any)';
const MOST_STEPS = 7;
const SHOWN_STEPS = 3;

/** A way through the workflow as a sentence shows it; the middle of a long one is left out. */
export function sayPath(steps: readonly Step[], start: string): string {
  const whole = withoutAny(steps);
  const [first] = whole;
  if (first === undefined) return start;
  const long = whole.length > MOST_STEPS;
  const head = (long ? whole.slice(0, SHOWN_STEPS) : whole).map(sayStep).join('');
  const left = whole.length - 2 * SHOWN_STEPS;
  const tail = whole.slice(-SHOWN_STEPS).map(sayStep).join('');
  return first.from + head + (long ? ` … (${left} more) …${tail}` : '');
}

/** An agent that may choose any state chooses this one. */
export function withoutAny(steps: readonly Step[]): readonly Step[] {
  const whole: Step[] = [];
  for (const step of steps) {
    const before = whole.at(-1);
    if (step.from === ANY && before !== undefined) whole.splice(-1, 1, { ...before, to: step.to, computed: true });
    else whole.push(step);
  }
  return whole;
}

function sayStep({ to, tag, how, after, computed }: Step): string {
  if (how === 'more') return ` – … → ${to}`;
  const said = tag ?? 'perhaps';
  const label = how === 'back' ? `back from ${after}` : how === 'next' ? `fork ${after}, next` : said;
  return ` –${label}${computed && tag !== null ? ' (computed)' : ''}→ ${to}`;
}
