import { stripTags } from '../../core/tag-mentions.ts';
import { TAG_NAMES } from '../../core/transitions/index.ts';
import { isEnglish } from '../../graph/english.ts';
import { rulePerState } from '../rule.ts';

/** Words with which a prompt says when its step is over, or what belongs to a later one. */
const STOP_WORDS =
  /\b(?:stop|yet|until|when|once|after|afterwards|as soon as|if|otherwise|only|later|next step|finish\w*|done|complete[sd]?|answer|respond|reply|give back|emit|output|end (?:your|the|this)|nothing else|hand (?:it|them|this|that) back|end (?:t?here)|(?:is|are) all|then(?! (?:proceed|continue|go on|move))|return|in the end|finally|lastly|last of all)\b|\?/i;

/** "Some are left: <goto>…</goto>", "No item fails → <result>…</result>", "Say <result>…": it is over when this can be said. */
const INTRODUCED_TAG = new RegExp(
  `(?:(?:[.!?] |\\n)[^.!?\\n<]{2,60}(?::|→|[-=]>)|\\bsay\\b)[\\s*"'\`]{0,20}<(?:${TAG_NAMES.join('|')})[\\s>]`,
  'i',
);

/** A few words without any small one may be in English all the same. */
const SHORT_COMMAND =
  /^\s*(?:build|change|check|clean|create|draft|find|fix|implement|improve|mend|plan|polish|read|refactor|rename|review|rewrite|summari[sz]e|test|translate|update|write)\s+[\w./-]+[.!]?\s*$/i;

/** What is called by a name, such as a file `last-tag` or a folder `done/`, says nothing about when to stop. */
const withoutNames = (text: string): string =>
  text.replace(/`[^`\n]*`|\S+/g, (word) => (/^`|[\w)}][./_-][\w/{]|\/[.,;:!]?$/.test(word) ? ' ' : word));

/** Whether a text says when to stop; names are left out only of the lines where it matters. */
const mentionsStop = (prose: string): boolean =>
  prose.split('\n').some((line) => STOP_WORDS.test(line) && STOP_WORDS.test(withoutNames(line)));

/** A prompt does not say when to stop, so that its agent may run ahead into later steps. */
export const noStoppingPoint = rulePerState('no-stopping-point', 'info', (analysis, context) => {
  if (analysis.kind !== 'prompt' || analysis.broken || !context.isReached(analysis.file)) return [];
  const { text } = analysis.source.state;
  const prose = stripTags(text);
  if (prose.trim() === '' || INTRODUCED_TAG.test(text.trimStart()) || mentionsStop(prose)) return [];
  if (!isEnglish(prose) && !SHORT_COMMAND.test(prose)) return [];
  const message = 'the prompt does not say when to stop';
  const hint = 'Name the point at which this step is over, and what must not be done yet.';
  return [{ file: analysis.file, at: analysis.positionAt(0), message, hint }];
});
