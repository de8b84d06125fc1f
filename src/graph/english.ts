const ENGLISH = /\b(?:the|and|to|it|of|this|for|is|with|from|your?)\b/gi;
/** Small words of other languages that are none in English; an English word or two stands in many a text of theirs. */
const OTHER =
  /\b(?:der|das|und|oder|ist|nicht|ein|eine[nmrs]?|den|dem|mit|von|zu|auf|f[üu]r|les?|une?|et|est|dans|pour|los|las|una?|con|para|por|del?|il|che|di|het|een|van|och|att|som|og|til|nie|jest|na)\b/gi;
const OTHER_LETTERS = /(?!\p{Script=Latin})\p{L}/u;

/** Whether a text has more of the small words of English than of other languages. */
export const isEnglish = (text: string): boolean => count(text, ENGLISH) > count(text, OTHER);

/** Whether a text is surely in another language; a few words without any small one could be in any. */
export function isForeignLanguage(text: string): boolean {
  const others = count(text, OTHER);
  return OTHER_LETTERS.test(text) || (others > 0 && others >= count(text, ENGLISH));
}

const count = (text: string, words: RegExp): number => text.match(words)?.length ?? 0;
