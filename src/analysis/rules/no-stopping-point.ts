import { TAG_NAMES } from '../../core/transitions/index.ts';
import { rulePerPage } from '../rule.ts';

const TAGS = new RegExp(`<(${TAG_NAMES.join('|')})\\b[^<>]*>[^<]*</\\1\\s*>`, 'gi');
/** Words with which a prompt says when its step is over, or what belongs to a later one. */
const STOPS =
  /\b(?:stop|yet|until|when|once|after|afterwards|as soon as|if|otherwise|only|later|next step|finish\w*|done|complete[sd]?|answer|respond|reply|emit|output|end (?:your|the|this)|nothing else|then(?! (?:proceed|continue|go on|move))|return|in the end|finally|last)\b|\?/i;
const ENGLISH = /\b(?:the|and|to|it|of|this|for|is|with|from|your?)\b/gi;
/** Small words of other languages that are none in English; an English word or two stands in many a text of theirs. */
const OTHER =
  /\b(?:der|das|und|oder|ist|nicht|ein|eine[nmrs]?|den|dem|mit|von|zu|auf|f[üu]r|les?|une?|et|est|dans|pour|los|las|una?|con|para|por|del?|il|che|di|het|een|van|och|att|som|og|til|nie|jest|na)\b/gi;

/** Whether a text has more of the small words of English than of other languages. */
const isEnglish = (text: string): boolean => (text.match(ENGLISH)?.length ?? 0) > (text.match(OTHER)?.length ?? 0);

/** A prompt does not say when to stop, so that its agent may run ahead into later steps. */
export const noStoppingPoint = rulePerPage('no-stopping-point', 'info', (page, view) => {
  const prose = page.source.state.text.replace(TAGS, ' ');
  const silent = page.kind !== 'prompt' || page.broken || prose.trim() === '' || !view.isReached(page.file);
  if (silent || !isEnglish(prose) || STOPS.test(prose)) return [];
  const message = 'the prompt does not say when to stop';
  const hint = 'Name the point at which this step is over, and what must not be done yet.';
  return [{ file: page.file, at: page.place(0), message, hint }];
});
