import type { SureMention } from '../bash/script-tags.ts';
import { implicitTag, type Rules } from '../language/policy.ts';
import { STATE_ATTRIBUTES } from '../language/tags/tag.ts';
import { readTagMentions, type TagMention, type UnclosedMention } from '../language/tags/tag-mentions.ts';
import { findRegions, type Region } from '../language/text/markup.ts';
import { TRANSITIONS, takesAttribute } from '../language/transitions/index.ts';

/** The tags in the text of a prompt. */
export interface PromptTags {
  /** Those that are not `sure` are examples, and not what the agent is to answer. */
  readonly tags: readonly SureMention[];
  /** The same tags, with one for each of the alternatives in `<goto>A.md|B.md</goto>`. */
  readonly expandedTags: readonly SureMention[];
  readonly unclosedTags: readonly (UnclosedMention & { readonly sure: boolean })[];
  /** The tags in code, if there are others outside of code. */
  readonly tagsInCode: readonly TagMention[];
}

/**
 * Reads the tags of a prompt. `isState` says whether a name could be that of a state, in any letter case. A prompt whose
 * transition is forced has none: a run ignores what its agent writes.
 */
export function readPromptTags(
  text: string,
  { policy, forceImplicit = false }: Pick<Rules, 'policy' | 'forceImplicit'>,
  isState: (name: string) => boolean,
): PromptTags {
  if (forceImplicit && implicitTag(policy) !== undefined)
    return { tags: [], expandedTags: [], unclosedTags: [], tagsInCode: [] };
  const { tags, unclosedTags } = readTagMentions(text);
  const isExample = implicitTag(policy) === undefined || tags.length === 0 ? () => false : createCodeCheck(text);
  const all = tags.map((tag) => ({ ...tag, sure: !isExample(tag.offset) }));
  return {
    tags: all,
    expandedTags: all.flatMap((mention) => expandAlternatives(mention, isState)),
    unclosedTags: unclosedTags.map((tag) => ({ ...tag, sure: true })),
    tagsInCode: readTagsInCode(text, tags),
  };
}

/** Makes a check for offsets in code: in a prompt with an implicit transition, a tag there is an example. */
function createCodeCheck(text: string): (offset: number) => boolean {
  const code = findRegions(text).filter(({ kind }) => kind === 'code');
  return (offset) => code.some(({ start, end }) => start < offset && offset < end);
}

/** More than an author writes into one tag. */
const MAX_ALTERNATIVES = 20;

function expandAlternatives(mention: SureMention, isState: (name: string) => boolean): readonly SureMention[] {
  const { tag, name } = mention;
  const split = (written: string): readonly string[] => {
    const parts = written.split('|').map((part) => part.trim());
    return parts.includes('') || parts.length > MAX_ALTERNATIVES || isState(written) ? [written] : parts;
  };
  const bodies = TRANSITIONS[name].body === 'text' ? [tag.body] : split(tag.body);
  const key = STATE_ATTRIBUTES.find((each) => takesAttribute(name, each) && tag.attributes[each]?.includes('|'));
  const attributeSets =
    key === undefined
      ? [tag.attributes]
      : split(tag.attributes[key] ?? '').map((state) => ({ ...tag.attributes, [key]: state }));
  return bodies.flatMap((body) =>
    attributeSets.map((attributes) => ({ ...mention, tag: { ...tag, body, attributes } })),
  );
}

/** Reads the tags in the code of a prompt, which do not count because `tags` are outside of code. */
export function readTagsInCode(text: string, tags: readonly TagMention[]): readonly TagMention[] {
  if (tags.length === 0) return [];
  const counted = new Set(tags.map(({ offset }) => offset));
  const code = findRegions(text).filter(({ kind }) => kind === 'code');
  const inCode = code.flatMap(({ start, end }) =>
    readTagMentions(text.slice(start, end)).tags.map((tag) => ({ ...tag, offset: start + tag.offset })),
  );
  return inCode.filter(({ offset }) => !counted.has(offset));
}

/** Finds the fenced blocks of code in a text. */
export const findCodeBlocks = (text: string): readonly Region[] =>
  findRegions(text).filter(({ kind, start, end }) => kind === 'code' && FENCED.test(text.slice(start, end)));

/** Lines between two lines of nothing but marks; a language may be named on the first. */
const FENCED = /^(?:`{3,}[^`\n]*|~{3,}[^\n]*)\n(?:[\s\S]*\n)?[ \t]*(?:`{3,}|~{3,})[ \t\r]*$/;

/** Finds the words that a prompt may tell its agent to write literally: `word=…`, and words in quotes or code. */
export function findLiteralWords(prompt: string): ReadonlySet<string> {
  const found = prompt.matchAll(
    /(?<![\p{L}\p{N}_-])(?:([\p{L}_][\p{L}\p{N}_-]*)\s*=|[`"']([\p{L}_][\p{L}\p{N}_-]*)[`"'])/gu,
  );
  return new Set([...found].flatMap(([, assigned, quoted]) => assigned ?? quoted ?? []));
}
