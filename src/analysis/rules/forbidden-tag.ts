import { type PolicyEntry, permits } from '../../core/policy.ts';
import { literalTag } from '../../core/reminder.ts';
import type { Tag } from '../../core/tag.ts';
import { asMeant } from '../counterparts.ts';
import { waysOn } from '../edges.ts';
import { isOpen } from '../mentions.ts';
import type { Page, PlacedTag } from '../page.ts';
import type { Resolver } from '../resolver.ts';
import { rulePerPage } from '../rule.ts';
import { showWhole } from '../words.ts';

/** A prompt asks for a tag that its policy does not permit. */
export const forbiddenTag = rulePerPage('forbidden-tag', 'warning', (page, { names }) => {
  if (page.broken || page.source.state.rules.policy.length === 0) return [];
  const seen = new Set<string>();
  return page.forms.flatMap((placed) => {
    const shown = showWhole(placed.name, placed.tag);
    if (!placed.sure || seen.has(shown) || isInexact(placed, names) || isPermitted(page, placed, names)) return [];
    seen.add(shown);
    const like = resembling(page.source.state.rules.policy, placed, names);
    const permitted = like === undefined ? '' : `; they permit \`${literalTag(like)}\``;
    const message = `the prompt asks for ${shown}, which its \`allowed_transitions\` do not permit${permitted}`;
    return [
      {
        file: page.file,
        at: placed.at,
        message,
        hint: 'Add it to the `allowed_transitions`, or take it out of the prompt.',
      },
    ];
  });
});

/** The entry that comes closest: with the same tag, and the same state if there is one. */
function resembling(
  policy: readonly PolicyEntry[],
  { name, tag }: PlacedTag,
  names: Resolver,
): PolicyEntry | undefined {
  const mine = policy.filter((entry) => entry.tag === name);
  const fileOf = (state: string): string => {
    const found = names.resolve(state.trim());
    return found.kind === 'found' ? found.file : state;
  };
  const isSame = ({ target }: PolicyEntry): boolean => target !== null && fileOf(target) === fileOf(tag.body);
  return mine.find(isSame) ?? policy.find(isSame) ?? mine[0];
}

/** What is not exact, or names no state, is nothing to compare. */
function isInexact({ name, tag }: PlacedTag, names: Resolver): boolean {
  const { return: back, next } = tag.attributes;
  const states = [...(name === 'result' ? [] : [tag.body]), back, next].filter((each) => each !== undefined);
  const unknown = states.some((state) => names.resolve(state.trim()).kind !== 'found');
  const open = Object.values(tag.attributes).some(isOpen);
  return unknown || open || ((name === 'call' || name === 'function') && back === undefined);
}

/** A fork that leaves its `next` to others is permitted if it is with one of theirs. */
function isPermitted(page: Page, { name, tag }: PlacedTag, names: Resolver): boolean {
  const { policy } = page.source.state.rules;
  const ways = name === 'fork' && tag.attributes.next === undefined ? waysOn(page.forms) : [];
  const said = ways.map((next): Tag => ({ ...tag, attributes: { ...tag.attributes, next } }));
  return (said.length > 0 ? said : [tag]).some((each) => {
    const states = [each.body, each.attributes.return ?? '', each.attributes.next ?? ''];
    const mine = policy.filter((entry) => entry.tag === name).map((entry) => asMeant(entry, names));
    const theirs = mine.flatMap(({ target, attributes }) => [
      target ?? '',
      attributes.return ?? '',
      attributes.next ?? '',
    ]);
    return mine.length > 0 && permits(mine, each, names.scopeOf([...states, ...theirs]));
  });
}
