import { implicitTag, type Policy } from '../core/policy.ts';
import { askingIn } from './asked.ts';
import { type Half, type Mention, type Mentions, readMentions } from './mentions.ts';
import { type Quoted, readQuoted } from './quoted.ts';
import { isSubject, isSubjectHalf } from './subject.ts';

/** What a prompt says about tags. */
export interface PromptReading {
  /** The tags that it mentions; those that are not `sure` are spoken of, but not asked for. */
  readonly tags: readonly SureMention[];
  /** The same, one for each of the alternatives in `<goto>A.md|B.md</goto>`. */
  readonly forms: readonly SureMention[];
  readonly halves: readonly (Half & { readonly sure: boolean })[];
  readonly quoted: readonly Quoted[];
}

type SureMention = Mention & { readonly sure: boolean };

/** Reads a prompt. `isState` says whether a name could be that of a state, in any letter case. */
export function readPromptTags(text: string, policy: Policy, isState: (name: string) => boolean): PromptReading {
  const { tags, halves } = withoutSubjects(text, isState);
  const quoted = readQuoted(text, tags).filter((tag) => !isSubject(tag, text, isState));
  const isAsked = askingIn(text, implicitTag(policy) !== undefined);
  const all = tags.map((tag) => ({ ...tag, sure: isAsked(tag.offset) }));
  return {
    tags: all,
    forms: all.flatMap((mention) => alternativesIn(mention, isState)),
    halves: halves.map((half) => ({ ...half, sure: true })),
    quoted,
  };
}

/** What stands in code may count only when what is no tag is gone; twice is enough for that. */
const MOST_ROUNDS = 3;

function withoutSubjects(text: string, isState: (name: string) => boolean): Mentions {
  let visible = text;
  let reading = readMentions(visible);
  for (let round = 1; round < MOST_ROUNDS; round++) {
    const subjects = reading.tags.filter((tag) => isSubject(tag, text, isState)).map(({ offset }) => offset);
    if (subjects.length === 0) break;
    visible = without(visible, subjects);
    reading = readMentions(visible);
  }
  return {
    tags: reading.tags.filter((tag) => !isSubject(tag, text, isState)),
    halves: reading.halves.filter((half) => !isSubjectHalf(half, text)),
  };
}

/** The text with a blank instead of the character at each of these offsets. */
function without(text: string, offsets: readonly number[]): string {
  const parts = offsets.map((offset, index) => text.slice(index === 0 ? 0 : (offsets[index - 1] ?? 0) + 1, offset));
  return [...parts, text.slice((offsets.at(-1) ?? -1) + 1)].join(' ');
}

/** More than an author writes into one tag. */
const MOST_ALTERNATIVES = 20;

function alternativesIn(mention: SureMention, isState: (name: string) => boolean): readonly SureMention[] {
  const { tag, name } = mention;
  const split = (written: string): readonly string[] => {
    const parts = written.split('|').map((part) => part.trim());
    return parts.includes('') || parts.length > MOST_ALTERNATIVES || isState(written) ? [written] : parts;
  };
  const bodies = name === 'result' ? [tag.body] : split(tag.body);
  const key = (['return', 'next'] as const).find((each) => tag.attributes[each]?.includes('|'));
  const others =
    key === undefined
      ? [tag.attributes]
      : split(tag.attributes[key] ?? '').map((state) => ({ ...tag.attributes, [key]: state }));
  return bodies.flatMap((body) => others.map((attributes) => ({ ...mention, tag: { ...tag, body, attributes } })));
}
