import { TRANSITIONS } from '../../core/transitions/index.ts';
import { isOpen, type Mention } from '../mentions.ts';
import type { List } from './command.ts';
import type { Cut } from './cut.ts';
import { mentionsIn, type Speech } from './speech.ts';
import { Values } from './values.ts';
import type { Spot } from './walk.ts';

/** What the tags of a script can be when they are printed: the values of variables that stand in the script are put in. */
export class Forms {
  private readonly values: Values;

  constructor(script: List, text: string) {
    this.values = new Values(script, text);
  }

  /** The forms of the tags of one command. A tag that can be anything also stands for itself. */
  of({ tags, texts, sure, perhaps }: Speech, spot: Spot): readonly Mention[] {
    const isOpenEnded = tags.some(leadsAnywhere) || (sure && perhaps);
    return isOpenEnded ? texts.flatMap((text) => this.formsIn(text, spot)) : tags;
  }

  private formsIn(text: Cut, spot: Spot): readonly Mention[] {
    const { tags } = mentionsIn(text);
    const { texts, all } = this.values.fill(text, spot);
    const known = new Set(tags.map(spelling));
    const begun = new Set(tags.map(({ offset }) => offset));
    const filled = texts.flatMap(({ cut, source }) =>
      mentionsIn(cut).tags.map((tag) => {
        // A value in a tag is where its mistakes have to be mended.
        return begun.has(tag.offset) && !known.has(spelling(tag)) ? { ...tag, offset: source } : tag;
      }),
    );
    const whole = all && filled.length > 0 ? filled : [...tags, ...filled];
    return [...new Map(whole.map((tag) => [`${tag.offset} ${spelling(tag)}`, tag])).values()];
  }
}

const spelling = ({ name, tag }: Mention): string => JSON.stringify([name, tag.body, tag.attributes]);

const leadsAnywhere = ({ name, tag }: Mention): boolean =>
  (TRANSITIONS[name].body === 'state' && isOpen(tag.body)) || Object.values(tag.attributes).some(isOpen);
