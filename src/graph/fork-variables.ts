import { isBuiltInAttribute } from '../language/tags/tag.ts';
import { hasUnknownPart, UNKNOWN } from '../language/tags/tag-mentions.ts';
import { isAttributeWord, type TagName, TRANSITIONS } from '../language/transitions/index.ts';

/** The variables that a fork sets. */
export function variablesIn(
  name: TagName,
  attributeSets: readonly Readonly<Record<string, string>>[],
): readonly string[] {
  if (!TRANSITIONS[name].variables) return [];
  const own = attributeSets
    .flatMap((each) => Object.entries(each))
    .filter(([key, value]) => !isBuiltInAttribute(name, key) && !isAttributeWord(name, key, value));
  const ofItems = name === 'fork-each' ? attributeSets.flatMap(itemVariables) : [];
  return [...new Set([...own.map(([key]) => key), ...ofItems])];
}

/** The variables that each of several forks sets; one that may set any is no reason to doubt them. */
export function commonVariables(forks: readonly (readonly string[])[]): readonly string[] {
  const [first, ...others] = forks.filter((names) => !names.some(hasUnknownPart));
  if (first === undefined) return [...new Set(forks.flat())];
  return first.filter((name) => others.every((names) => names.includes(name)));
}

/** The variables that the items of a `fork-each` set: any, unless they are lines of text. */
function itemVariables({ in: file, as = 'item' }: Readonly<Record<string, string>>): readonly string[] {
  const isText = file !== undefined && !hasUnknownPart(file) && !/\.(json|jsonl|ndjson)$/i.test(file);
  return ['index', as, ...(isText ? [] : [UNKNOWN])];
}
