import { STATE_ATTRIBUTES, type Tag } from '../../language/tags/tag.ts';
import { type TagName, TRANSITIONS } from '../../language/transitions/index.ts';
import { DOUBLE_QUOTES_HINT, quoteTag } from '../messages.ts';
import { defineStateRule } from '../rule.ts';

/** A script prints the name of one of its variables instead of the value: between single quotes, a `$` is an ordinary character. */
export const literalVariable = defineStateRule({ id: 'literal-variable', level: 'warning' }, (analysis) => {
  if (!analysis.file.endsWith('.sh')) return [];
  const { text } = analysis.source.state;
  return analysis.tags.flatMap(({ name, tag, at, sure }) => {
    const handed = sure ? collectHandedTexts(name, tag) : [];
    const named = handed.flatMap((each) =>
      [...each.matchAll(/\$\{?([a-z_]\w*)/gi)].map(([, variable = '']) => variable),
    );
    const found = named.find((variable) => isSetBy(text, variable) && !isEscapedIn(text, variable));
    if (found === undefined) return [];
    const message = `${quoteTag(name, tag)} contains the text \`$${found}\`, not the value of the variable`;
    return [{ at, message, hint: DOUBLE_QUOTES_HINT }];
  });
});

/** Lists the texts that a tag passes on; names of states are checked by `missing-state`. */
function collectHandedTexts(name: TagName, { body, attributes }: Tag): readonly string[] {
  const defined = Object.entries(attributes).flatMap(([key, value]) =>
    (STATE_ATTRIBUTES as readonly string[]).includes(key) ? [] : value,
  );
  return TRANSITIONS[name].body === 'text' ? [body, ...defined] : defined;
}

/** True if a script or Raymond sets a variable. */
const isSetBy = (script: string, name: string): boolean =>
  name.startsWith('RAYMOND_') ||
  new RegExp(`(?:^|[\\s;({])${name}\\+?=|\\bfor ${name}\\b`, 'm').test(script) ||
  script.split('\n').some((line) => /\bread\b/.test(line) && new RegExp(`\\s${name}\\b`).test(line));

const isEscapedIn = (script: string, name: string): boolean => new RegExp(`\\\\\\$\\{?${name}\\b`).test(script);
