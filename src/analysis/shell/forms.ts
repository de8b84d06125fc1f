import { TRANSITIONS } from '../../core/transitions/index.ts';
import { isOpen, type Mention, readMentions } from '../mentions.ts';
import { type Cut, sourceOf } from './cut.ts';
import type { Speech } from './speech.ts';
import type { Values } from './values.ts';
import type { Spot } from './walk.ts';

/** A tag as it will be printed, and whether it has the values of variables in it. */
export type Form = Mention & { readonly filled: boolean };

/**
 * What the tags of one command can be when they are printed: the values of variables that stand in the script are put in.
 * A tag that can be anything also stands for itself.
 */
export function formsOf({ tags, texts, sure, perhaps }: Speech, spot: Spot, values: Values): readonly Form[] {
  const isOpenEnded = tags.some(leadsAnywhere) || (sure && perhaps);
  return texts.flatMap((text) => (isOpenEnded ? filledIn(text, spot, values) : asTheyStand(text, false)));
}

function filledIn(text: Cut, spot: Spot, values: Values): readonly Form[] {
  const own = asTheyStand(text, false);
  const { texts, all } = values.fill(withoutAttributes(text), spot);
  const filled = texts.flatMap((each) => asTheyStand(each, true));
  const whole = all && filled.length > 0 ? filled : [...own, ...filled];
  return [...new Map(whole.map((tag) => [`${tag.offset} ${spelling(tag)}`, tag])).values()];
}

/** What is handed over has no say in where a tag leads. */
function withoutAttributes(cut: Cut): Cut {
  const given = [...cut.text.matchAll(/\s(?!(?:next|return)\b)[\w-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/g)];
  const isGiven = (at: number): boolean => given.some(({ index, 0: all }) => index <= at && at < index + all.length);
  return { ...cut, holes: cut.holes.filter(({ at }) => !isGiven(at)) };
}

const asTheyStand = (cut: Cut, filled: boolean): readonly Form[] =>
  readMentions(cut.text).tags.map((tag) => ({ ...tag, filled, offset: placeOf(cut, tag) }));

/** A name from elsewhere has its own place: there its mistakes have to be mended. */
function placeOf(cut: Cut, { tag, offset }: Mention): number {
  const start = sourceOf(cut, offset);
  const named = [tag.body, tag.attributes.next ?? '', tag.attributes.return ?? ''].filter((name) => name !== '');
  const places = named.flatMap((name) => {
    const at = cut.text.indexOf(name, offset + tag.name.length);
    const source = at === -1 ? start : sourceOf(cut, at);
    // Within one text, backslashes are all that can be left out.
    return source < start || source - start > 2 * (at - offset) ? source : [];
  });
  return places[0] ?? start;
}

const spelling = ({ name, tag }: Mention): string => JSON.stringify([name, tag.body, tag.attributes]);

const leadsAnywhere = ({ name, tag }: Mention): boolean =>
  (TRANSITIONS[name].body === 'state' && isOpen(tag.body)) || Object.entries(tag.attributes).flat().some(isOpen);

/** Whether all that a command prints stands in the script, though it be in variables. */
export const isAllKnown = ({ texts }: Speech, spot: Spot, values: Values): boolean =>
  texts.every((text) => {
    const filled = values.fill(text, spot);
    return filled.all && filled.texts.length > 0 && !filled.texts.some((each) => isOpen(each.text));
  });
