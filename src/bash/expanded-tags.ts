import { STATE_ATTRIBUTES } from '../core/tag.ts';
import { hasUnknownPart, readTagMentions, type TagMention } from '../core/tag-mentions.ts';
import { TRANSITIONS } from '../core/transitions/index.ts';
import type { CommandOutput } from './command-output.ts';
import { type MappedText, toSourceOffset } from './mapped-text.ts';
import type { SimpleCommand } from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import type { CommandContext } from './walk.ts';

/** A tag as it will be printed, and whether it has the values of variables in it. */
export type ExpandedTag = TagMention & { readonly filled: boolean };

/**
 * Puts the values of variables into the tags of one command, as far as the script shows the values. A tag whose values are
 * not all known is kept as well.
 */
export function expandTags(
  { tags, texts, sure, mayPrintUnknown }: CommandOutput,
  context: CommandContext,
  values: VariableValues,
): readonly ExpandedTag[] {
  const isOpenEnded = tags.some(hasUnknownTarget) || (sure && mayPrintUnknown);
  return texts.flatMap((text) => (isOpenEnded ? expandText(text, context, values) : readExpandedTags(text, false)));
}

function expandText(text: MappedText, context: CommandContext, values: VariableValues): readonly ExpandedTag[] {
  const literal = readExpandedTags(text, false);
  const { texts, isComplete } = values.fill(withoutPayload(text), context);
  const filled = texts.flatMap((each) => readExpandedTags(each, true));
  const combined = isComplete && filled.length > 0 ? filled : [...literal, ...filled];
  return [...new Map(combined.map((tag) => [`${tag.offset} ${spelling(tag)}`, tag])).values()];
}

/** Attributes other than `next` and `return` do not decide where a tag leads. */
function withoutPayload(text: MappedText): MappedText {
  const attributes = [
    ...text.text.matchAll(/\s(?!(?:next|return|timeout_next)\b)[\w-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/g),
  ];
  const isInAttribute = (at: number): boolean =>
    attributes.some(({ index, 0: attribute }) => index <= at && at < index + attribute.length);
  return { ...text, placeholders: text.placeholders.filter(({ at }) => !isInAttribute(at)) };
}

const readExpandedTags = (text: MappedText, filled: boolean): readonly ExpandedTag[] =>
  readTagMentions(text.text).tags.map((tag) => ({ ...tag, filled, offset: locateTag(text, tag) }));

/** A tag whose state comes from a variable is reported at the assignment, where a mistake is corrected. */
function locateTag(text: MappedText, { name, tag, offset }: TagMention): number {
  const start = toSourceOffset(text, offset);
  const inAttributes = STATE_ATTRIBUTES.map((key) => tag.attributes[key] ?? '');
  const stateNames = [...(TRANSITIONS[name].body === 'text' ? [] : [tag.body]), ...inAttributes].filter(
    (state) => state !== '',
  );
  const places = stateNames.flatMap((state) => {
    const at = text.text.indexOf(state, offset + tag.name.length);
    const source = at === -1 ? start : toSourceOffset(text, at);
    // Within one text, backslashes are all that can be left out.
    return source < start || source - start > 2 * (at - offset) ? source : [];
  });
  return places[0] ?? start;
}

const spelling = ({ name, tag }: TagMention): string => JSON.stringify([name, tag.body, tag.attributes]);

const hasUnknownTarget = ({ name, tag }: TagMention): boolean =>
  (TRANSITIONS[name].body === 'state' && hasUnknownPart(tag.body)) ||
  Object.entries(tag.attributes).flat().some(hasUnknownPart);

/** Whether all that a command prints is written in the script, perhaps as values of variables. */
export const isFullyKnown = ({ texts }: CommandOutput, context: CommandContext, values: VariableValues): boolean =>
  texts.every((text) => {
    const filled = values.fill(text, context);
    return filled.isComplete && filled.texts.length > 0 && !filled.texts.some((each) => hasUnknownPart(each.text));
  });

/**
 * Adapts the tags of a command in a function to a call of the function. A tag with arguments in it differs from call to
 * call, and is reported at the call.
 */
export function substituteArguments(tags: readonly TagMention[], call: SimpleCommand | null): readonly TagMention[] {
  const args = call?.args.map(({ text }) => text) ?? [];
  if (call === null || args.length === 0 || args.some(hasUnknownPart)) return tags;
  return tags.map((mention) => {
    const { body, attributes } = mention.tag;
    const isConstant = ![body, ...Object.values(attributes)].some(hasUnknownPart);
    return isConstant
      ? mention
      : { ...mention, tag: { ...mention.tag, body: `${body} ${args.join(' ')}` }, offset: call.at };
  });
}
