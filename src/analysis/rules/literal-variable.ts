import type { Tag } from '../../core/tag.ts';
import { type TagName, TRANSITIONS } from '../../core/transitions/index.ts';
import { rulePerPage } from '../rule.ts';
import { DOUBLE_QUOTES, showTag } from '../words.ts';

/** A script prints the name of a variable of its own where its value was meant: between single quotes, a `$` is a character. */
export const literalVariable = rulePerPage('literal-variable', 'warning', (page) => {
  if (!page.file.endsWith('.sh')) return [];
  const { text } = page.source.state;
  if (!page.tags.some(({ name, tag }) => textsIn(name, tag).some((each) => each.includes('$')))) return [];
  const [own, escaped] = [namesSetIn(text), new Set([...text.matchAll(/\\\$\{?(\w+)/g)].map(([, name]) => name))];
  return page.tags.flatMap(({ name, tag, at, sure }) => {
    const written = sure ? textsIn(name, tag).flatMap((each) => [...each.matchAll(/\$\{?([a-z_]\w*)/gi)]) : [];
    const found = written.map(([, variable = '']) => variable).find((each) => own.has(each) && !escaped.has(each));
    if (found === undefined) return [];
    const message = `${showTag(name, tag)} has the name \`$${found}\` in it, and not its value`;
    return [{ file: page.file, at, message, hint: DOUBLE_QUOTES }];
  });
});

/** What a tag hands over; that there is no state of such a name is told by another rule. */
function textsIn(name: TagName, { body, attributes }: Tag): readonly string[] {
  const given = Object.entries(attributes).flatMap(([key, value]) => (key === 'return' || key === 'next' ? [] : value));
  return TRANSITIONS[name].body === 'text' ? [body, ...given] : given;
}

/** The variables that a script gives a value, or that Raymond gives it. */
function namesSetIn(script: string): ReadonlySet<string> {
  const assignments = script.matchAll(/(?:^|[\s;({])([a-z_]\w*)\+?=|\bfor ([a-z_]\w*)/gim);
  const assigned = Array.from(assignments, ([, name, each]) => name ?? each ?? '');
  const read = [...script.matchAll(/\bread\b([^\n;|]*)/g)].flatMap(([, names = '']) => names.split(/\s+/));
  const given = [...script.matchAll(/\bRAYMOND_\w+/g)].map(([name]) => name);
  return new Set([...assigned, ...read, ...given]);
}
