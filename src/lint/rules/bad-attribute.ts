import type { Platform } from '../../core/state-names.ts';
import { isBuiltInAttribute, type Tag } from '../../core/tag.ts';
import { hasUnknownPart, UNKNOWN } from '../../core/tag-mentions.ts';
import { type TagName, TRANSITIONS } from '../../core/transitions/index.ts';
import { variableNameProblem } from '../../core/variables.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { quoteTag } from '../messages.ts';
import { defineStateRule } from '../rule.ts';
import { levelForTag } from '../unresolved-names.ts';

/** An attribute has a value that it cannot have, or a name that no variable can have. */
export const badAttribute = defineStateRule({ id: 'bad-attribute', level: 'error' }, (analysis, { workflow }) =>
  analysis.tags.flatMap(({ name, tag, at, sure }) => {
    const problems = sure
      ? [...problemsOf(name, tag, workflow.platform), ...templateProblems(name, tag, analysis)]
      : [];
    return problems.map(([problem, hint]) => {
      return { at, message: `${quoteTag(name, tag)}: ${problem}`, hint, level: levelForTag(analysis) };
    });
  }),
);

function problemsOf(name: TagName, { attributes }: Tag, platform: Platform): readonly (readonly [string, string])[] {
  const accepted: readonly string[] = TRANSITIONS[name].attributes;
  return Object.entries(attributes).flatMap(([key, value]): (readonly [string, string])[] => {
    if (!isBuiltInAttribute(key)) {
      const invalid =
        !TRANSITIONS[name].variables || key.includes(UNKNOWN) ? undefined : variableNameProblem(key, platform);
      return invalid === undefined ? [] : [[invalid, 'Rename it here and where it is used.']];
    }
    if (!accepted.includes(key) || hasUnknownPart(value)) return [];
    if (key === 'stack' && value !== 'clear' && value !== 'keep') {
      return [[`\`stack\` can be "clear" or "keep", not "${value}"`, 'Write one of them, or leave it out.']];
    }
    const empty = NEVER_EMPTY.includes(key) && value.trim() === '';
    return empty ? [[`\`${key}\` is empty`, 'Give it a value, or leave it out.']] : [];
  });
}

const NEVER_EMPTY = ['model', 'effort', 'cd'];

/** A script's folder that nobody puts in: only prompts are templates. */
function templateProblems(
  name: TagName,
  { attributes }: Tag,
  { kind }: StateAnalysis,
): readonly (readonly [string, string])[] {
  const { cd = '' } = attributes;
  const takesFolder = (TRANSITIONS[name].attributes as readonly string[]).includes('cd');
  if (kind !== 'script' || !takesFolder || cd.includes(UNKNOWN) || !cd.includes('{{')) return [];
  const hint = 'Raymond fills in {{…}} in prompts only: in a script, write the variable of the shell, such as "$name".';
  return [[`there is no folder \`${cd}\``, hint]];
}
