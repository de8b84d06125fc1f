import { isOpen, type Mention } from '../mentions.ts';
import type { Part } from './command.ts';
import { nameOf, type Speech } from './speech.ts';

/**
 * The tags of a command in a function that is called like this. Those with arguments in them are other ones in every call that
 * gives other arguments, and stand where the call stands.
 */
export function withArguments({ tags, texts }: Pick<Speech, 'tags' | 'texts'>, call: Part | null): readonly Mention[] {
  if (call?.command.kind !== 'simple' || !texts.some(hasArguments)) return tags;
  const given = nameOf(call.command.words).args.map(({ text }) => text);
  if (given.length === 0 || given.some(isOpen)) return tags;
  return tags.map((mention) => {
    const isGiven = isOpen(mention.tag.body) || Object.values(mention.tag.attributes).some(isOpen);
    const tag = { ...mention.tag, body: `${mention.tag.body} ${given.join(' ')}` };
    return isGiven ? { ...mention, tag, offset: call.at } : mention;
  });
}

const hasArguments = ({ holes }: Speech['texts'][number]): boolean =>
  holes.some(({ variable }) => /^[1-9@*]$/.test(variable));
