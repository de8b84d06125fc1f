import { hasUnknownPart, type TagMention } from '../core/tag-mentions.ts';
import type { CommandNode } from './syntax-tree.ts';
import { type CommandOutput, splitCommandWords } from './command-output.ts';

/**
 * The tags of a command in a function that is called like this. Those with arguments in them are other ones in every call that
 * gives other arguments, and stand where the call stands.
 */
export function substituteArguments(
  { tags, texts }: Pick<CommandOutput, 'tags' | 'texts'>,
  call: CommandNode | null,
): readonly TagMention[] {
  if (call?.command.kind !== 'simple' || !texts.some(hasArgumentPlaceholders)) return tags;
  const args = splitCommandWords(call.command.words).args.map(({ text }) => text);
  if (args.length === 0 || args.some(hasUnknownPart)) return tags;
  return tags.map((mention) => {
    const usesArguments =
      hasUnknownPart(mention.tag.body) || Object.values(mention.tag.attributes).some(hasUnknownPart);
    const tag = { ...mention.tag, body: `${mention.tag.body} ${args.join(' ')}` };
    return usesArguments ? { ...mention, tag, offset: call.at } : mention;
  });
}

const hasArgumentPlaceholders = ({ placeholders }: CommandOutput['texts'][number]): boolean =>
  placeholders.some(({ variable }) => /^[1-9@*]$/.test(variable));
