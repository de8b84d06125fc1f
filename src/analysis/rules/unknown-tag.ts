import { TAG_NAMES } from '../../core/transitions/index.ts';
import { levelOf } from '../bad-names.ts';
import { rulePerPage } from '../rule.ts';
import { type Stranger, strangersIn } from '../strangers.ts';

/** What looks like a tag and is meant as one, but is no tag of the language. */
export const unknownTag = rulePerPage('unknown-tag', 'error', (page, { names }) =>
  strangersIn(page, names).map((stranger) => {
    const level = stranger.how === 'word' && stranger.meant !== null ? 'warning' : levelOf(page);
    return { file: page.file, at: page.place(stranger.start), ...wordsFor(stranger), level };
  }),
);

function wordsFor({ name, body, meant, how }: Stranger): { message: string; hint: string } {
  if (meant === null) {
    const message = `\`<${name}>\` is not supported yet: Raymond takes it for mere text`;
    return { message, hint: INSTEAD[name.toLowerCase()] ?? '' };
  }
  const shown = meant === 'result' ? `\`<${name}>\`` : `\`<${name}>${body}</${name}>\``;
  const mended = meant === 'result' ? '<result>…</result>' : `<${meant}>${body}</${meant}>`;
  if (how === 'slip') {
    return { message: `${shown} is no tag of the language (did you mean <${meant}>?)`, hint: `Write ${mended}.` };
  }
  const others = `the tags are ${TAG_NAMES.slice(0, -1).join(', ')} and ${TAG_NAMES.at(-1)}`;
  return { message: `${shown} is no tag of the language`, hint: `Write ${mended}, or another one: ${others}.` };
}

/** What to do without the tags that are to come. */
const INSTEAD: Readonly<Record<string, string>> = {
  ask: 'Let it answer with a <result> that holds the question; the next run gets what is answered by --input.',
  join: 'Write a <goto> in its place, to a state that waits until the workers are done, such as a script that looks for their files.',
};
