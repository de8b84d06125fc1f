import { TAG_NAMES, TRANSITIONS } from '../../core/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { defineStateRule } from '../rule.ts';
import { levelForTag } from '../tag-rule.ts';
import { findUnknownTags, type UnknownTag } from '../unknown-tags.ts';

/** An element is meant as a tag, but is not a tag of the language. */
export const unknownTag = defineStateRule(
  {
    id: 'unknown-tag',
    level: 'error',
    supersedes: ['missing-attribute', 'no-way-out', 'silent-path', 'unreachable-state', ...CYCLE_RULES],
  },
  (analysis, { names }) =>
    findUnknownTags(analysis, names).map((unknown) => {
      const at = analysis.positionAt(unknown.start);
      return { at, ...describeUnknownTag(unknown), level: levelForTag(analysis) };
    }),
);

function describeUnknownTag({ name, body, meant, isMisspelt }: UnknownTag): { message: string; hint: string } {
  if (meant === null) {
    const message = `\`<${name}>\` is not supported yet: Raymond treats it as plain text`;
    return { message, hint: ALTERNATIVES[name.toLowerCase()] ?? '' };
  }
  const isText = TRANSITIONS[meant].body === 'text';
  const shown = isText ? `\`<${name}>\`` : `\`<${name}>${body}</${name}>\``;
  const corrected = isText ? `<${meant}>…</${meant}>` : `<${meant}>${body}</${meant}>`;
  if (isMisspelt) {
    return { message: `${shown} is not a tag of the language (did you mean <${meant}>?)`, hint: `Write ${corrected}.` };
  }
  const others = `the tags are ${TAG_NAMES.slice(0, -1).join(', ')} and ${TAG_NAMES.at(-1)}`;
  return { message: `${shown} is not a tag of the language`, hint: `Write ${corrected}, or another one: ${others}.` };
}

/** Hints for the tags that are not supported yet. */
const ALTERNATIVES: Readonly<Record<string, string>> = {
  ask: 'Answer with a <result> that holds the question, and pass the answer to the next run with --input.',
  join: 'Use a <goto> instead, to a state that waits until the workers are done, such as a script that checks for their files.',
};
