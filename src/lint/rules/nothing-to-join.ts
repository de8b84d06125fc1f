import { hasUnknownPart } from '../../language/tags/tag-mentions.ts';
import { startsWorkers } from '../../language/transitions/index.ts';
import { defineTagRule, type RuleContext } from '../rule.ts';

/** A join waits for workers that nothing in the workflow starts, or for a group that none of them has. */
export const nothingToJoin = defineTagRule({ id: 'nothing-to-join', level: 'warning' }, ({ name, tag }, _, context) => {
  if (name !== 'join') return [];
  const { graph } = context;
  // A state that may make other transitions may start workers, too.
  if (graph.nodes.some(({ open }) => open)) return [];
  if (!graph.edges.some((edge) => startsWorkers(edge.tag))) {
    return [
      {
        message: 'no state of this workflow starts workers, so there is nothing to join',
        hint: 'Put a <fork> or a <fork-each> beside it or before it, or write <goto>.',
      },
    ];
  }
  const { group } = tag.attributes;
  if (group === undefined || hasUnknownPart(group) || mayHaveGroup(group, context)) return [];
  const hint = `Give the workers group="${group}" on their <fork>, or leave it out here to join all of them.`;
  return [{ message: `no fork of this workflow sets group="${group}"`, hint }];
});

/** True if a fork may start workers of this group. */
function mayHaveGroup(group: string, { analyses }: RuleContext): boolean {
  return analyses
    .flatMap(({ expandedTags, unclosedTags }) => [...expandedTags, ...unclosedTags])
    .filter(({ name }) => startsWorkers(name))
    .some((placed) => {
      if (!('tag' in placed) || placed.name === 'fork-each') return true;
      const { attributes } = placed.tag;
      return attributes.group === group || Object.entries(attributes).some((pair) => pair.some(hasUnknownPart));
    });
}
