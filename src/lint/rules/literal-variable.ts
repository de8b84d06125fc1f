import type { Tag } from '../../core/tag.ts';
import { type TagName, TRANSITIONS } from '../../core/transitions/index.ts';
import { DOUBLE_QUOTES_HINT, quoteTag } from '../messages.ts';
import { defineStateRule } from '../rule.ts';

/** A script prints the name of one of its variables instead of the value: between single quotes, a `$` is an ordinary character. */
export const literalVariable = defineStateRule({ id: 'literal-variable', level: 'warning' }, (analysis) => {
  if (!analysis.file.endsWith('.sh')) return [];
  const { text } = analysis.source.state;
  if (!analysis.tags.some(({ name, tag }) => collectHandedTexts(name, tag).some((each) => each.includes('$'))))
    return [];
  const [setVariables, escaped] = [
    findSetVariables(text),
    new Set([...text.matchAll(/\\\$\{?(\w+)/g)].map(([, name]) => name)),
  ];
  return analysis.tags.flatMap(({ name, tag, at, sure }) => {
    const references = sure
      ? collectHandedTexts(name, tag).flatMap((each) => [...each.matchAll(/\$\{?([a-z_]\w*)/gi)])
      : [];
    const found = references
      .map(([, variable = '']) => variable)
      .find((each) => setVariables.has(each) && !escaped.has(each));
    if (found === undefined) return [];
    const message = `${quoteTag(name, tag)} contains the text \`$${found}\`, not the value of the variable`;
    return [{ at, message, hint: DOUBLE_QUOTES_HINT }];
  });
});

/** Lists the texts that a tag passes on; names of states are checked by `missing-state`. */
function collectHandedTexts(name: TagName, { body, attributes }: Tag): readonly string[] {
  const defined = Object.entries(attributes).flatMap(([key, value]) =>
    key === 'return' || key === 'next' ? [] : value,
  );
  return TRANSITIONS[name].body === 'text' ? [body, ...defined] : defined;
}

/** Finds the variables that a script or Raymond sets. */
function findSetVariables(script: string): ReadonlySet<string> {
  const assignments = script.matchAll(/(?:^|[\s;({])([a-z_]\w*)\+?=|\bfor ([a-z_]\w*)/gim);
  const assigned = Array.from(assignments, ([, name, each]) => name ?? each ?? '');
  const read = [...script.matchAll(/\bread\b([^\n;|]*)/g)].flatMap(([, names = '']) => names.split(/\s+/));
  const defined = [...script.matchAll(/\bRAYMOND_\w+/g)].map(([name]) => name);
  return new Set([...assigned, ...read, ...defined]);
}
