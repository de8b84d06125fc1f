import type { Tag } from '../../core/tag.ts';
import { type TagName, TRANSITIONS } from '../../core/transitions/index.ts';
import { rulePerPage } from '../rule.ts';
import { DOUBLE_QUOTES, showTag } from '../words.ts';

/** A script prints the name of a variable of its own where its value was meant: between single quotes, a `$` is a character. */
export const literalVariable = rulePerPage('literal-variable', 'warning', (page) => {
  if (!page.file.endsWith('.sh')) return [];
  const { text } = page.source.state;
  return page.tags.flatMap(({ name, tag, at, sure }) => {
    const written = sure ? textsIn(name, tag).flatMap((each) => [...each.matchAll(/\$\{?([a-z_]\w*)/gi)]) : [];
    const [found] = written.filter(([dollar, variable = '']) => isSet(variable, text) && !text.includes(`\\${dollar}`));
    if (found === undefined) return [];
    const message = `${showTag(name, tag)} has the name \`$${found[1]}\` in it, and not its value`;
    return [{ file: page.file, at, message, hint: DOUBLE_QUOTES }];
  });
});

/** What a tag hands over; that there is no state of such a name is told by another rule. */
function textsIn(name: TagName, { body, attributes }: Tag): readonly string[] {
  const given = Object.entries(attributes).flatMap(([key, value]) => (key === 'return' || key === 'next' ? [] : value));
  return TRANSITIONS[name].body === 'text' ? [body, ...given] : given;
}

/** Whether a script gives a variable a value, or Raymond does. */
const isSet = (variable: string, script: string): boolean =>
  variable.startsWith('RAYMOND_') ||
  new RegExp(`(?:^|[\\s;({])${variable}\\+?=|\\bfor ${variable}\\b|\\bread\\b[^\\n;|]* ${variable}\\b`, 'm').test(
    script,
  );
