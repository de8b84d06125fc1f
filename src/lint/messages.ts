import type { PathStep } from '../graph/reachability.ts';
import { shortenForMessage } from '../language/problem.ts';
import type { Tag } from '../language/tags/tag.ts';
import { UNKNOWN } from '../language/tags/tag-mentions.ts';
import { type TagName, TRANSITIONS } from '../language/transitions/index.ts';

/** Quotes a tag in a message. */
export function quoteTag(name: TagName, { body }: Pick<Tag, 'body'>): string {
  const written = shortenForMessage(body.replaceAll(UNKNOWN, '…').replace(/\s+/g, ' '));
  return TRANSITIONS[name].body === 'text' ? `\`<${name}>\`` : `\`<${name}>${written}</${name}>\``;
}

/** Quotes a tag in a message that is about its attributes. */
export function quoteTagWithAttributes(name: TagName, { body, attributes }: Pick<Tag, 'body' | 'attributes'>): string {
  const attributePairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${shortenForMessage(value)}"`);
  return quoteTag(name, { body }).replace(`<${name}`, () => `<${name}${attributePairs.join('')}`);
}

/** The hint for a `{{…}}` in a script, where it stays as it is. */
export const NO_TEMPLATE_HINT =
  'Raymond fills in {{…}} only in prompts: in a script, use a shell variable such as "$name".';

/** The hint for a `$` that was meant as a variable and is printed as it is. */
export const DOUBLE_QUOTES_HINT =
  "Use double quotes, or `<<EOF` without quotes: inside single quotes, and after `<<'EOF'`, a `$` is an ordinary character.";

const ANY_STATE = '(any)';
const MAX_SHOWN_STEPS = 7;
const SHOWN_STEPS = 3;

/** Formats a way through the workflow for a sentence; the middle of a long one is left out. */
export function formatStepPath(steps: readonly PathStep[], start: string): string {
  const collapsed = collapseAnyState(steps);
  const [first] = collapsed;
  if (first === undefined) return start;
  const long = collapsed.length > MAX_SHOWN_STEPS;
  const head = (long ? collapsed.slice(0, SHOWN_STEPS) : collapsed).map(formatStep).join('');
  const left = collapsed.length - 2 * SHOWN_STEPS;
  const tail = collapsed.slice(-SHOWN_STEPS).map(formatStep).join('');
  return first.from + head + (long ? ` … (${left} more) …${tail}` : '');
}

/** Joins two steps where the first leads to any state and the second says which one. */
export function collapseAnyState(steps: readonly PathStep[]): readonly PathStep[] {
  const collapsed: PathStep[] = [];
  for (const step of steps) {
    const before = collapsed.at(-1);
    if (step.from === ANY_STATE && before !== undefined)
      collapsed.splice(-1, 1, { ...before, to: step.to, computed: true });
    else collapsed.push(step);
  }
  return collapsed;
}

function formatStep({ to, tag, guard, how, after, computed }: PathStep): string {
  if (how === 'more') return ` – … → ${to}`;
  if (guard !== undefined) return ` –on ${guard}→ ${to}`;
  const tagLabel = tag ?? 'perhaps';
  const label = how === 'back' ? `back from ${after}` : how === 'next' ? `fork ${after}, next` : tagLabel;
  return ` –${label}${computed && tag !== null ? ' (computed)' : ''}→ ${to}`;
}
