import type { Platform } from '../../core/names.ts';
import { OWN_ATTRIBUTES, type Tag } from '../../core/tag.ts';
import { type TagName, TRANSITIONS } from '../../core/transitions/index.ts';
import { variableProblem } from '../../core/variables.ts';
import { levelOf } from '../bad-names.ts';
import { isOpen, UNKNOWN } from '../mentions.ts';
import type { Page } from '../page.ts';
import { rulePerPage } from '../rule.ts';
import { showTag } from '../words.ts';

/** An attribute has a value that it cannot have, or a name that no variable can have. */
export const badAttribute = rulePerPage('bad-attribute', 'error', (page, { sheet }) =>
  page.tags.flatMap(({ name, tag, at, sure }) => {
    const problems = sure ? [...problemsOf(name, tag, sheet.platform), ...noTemplate(name, tag, page)] : [];
    return problems.map(([problem, hint]) => {
      return { file: page.file, at, message: `${showTag(name, tag)}: ${problem}`, hint, level: levelOf(page) };
    });
  }),
);

function problemsOf(name: TagName, { attributes }: Tag, platform: Platform): readonly (readonly [string, string])[] {
  const own: readonly string[] = OWN_ATTRIBUTES;
  const taken: readonly string[] = TRANSITIONS[name].attributes;
  return Object.entries(attributes).flatMap(([key, value]): (readonly [string, string])[] => {
    if (!own.includes(key)) {
      const refused =
        !TRANSITIONS[name].variables || key.includes(UNKNOWN) ? undefined : variableProblem(key, platform);
      return refused === undefined ? [] : [[refused, 'Rename it here and where it is used.']];
    }
    if (!taken.includes(key) || isOpen(value)) return [];
    if (key === 'stack' && value !== 'clear' && value !== 'keep') {
      return [[`\`stack\` can be "clear" or "keep", not "${value}"`, 'Write one of them, or leave it out.']];
    }
    const empty = NEVER_EMPTY.includes(key) && value.trim() === '';
    return empty ? [[`\`${key}\` is empty`, 'Give it a value, or leave it out.']] : [];
  });
}

const NEVER_EMPTY = ['model', 'effort', 'cd'];

/** A script's folder that nobody puts in: only prompts are templates. */
function noTemplate(name: TagName, { attributes }: Tag, { kind }: Page): readonly (readonly [string, string])[] {
  const { cd = '' } = attributes;
  const takes = (TRANSITIONS[name].attributes as readonly string[]).includes('cd');
  if (kind !== 'script' || !takes || cd.includes(UNKNOWN) || !cd.includes('{{')) return [];
  const hint = 'Raymond fills in {{…}} in prompts only: in a script, write the variable of the shell, such as "$name".';
  return [[`there is no folder \`${cd}\``, hint]];
}
