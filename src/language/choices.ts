/** The answers that a question offers. */
export interface Choices {
  readonly labels: readonly string[];
  /** True if any other text is an answer, too. */
  readonly other: boolean;
  /** True if several labels may be chosen, one per line. */
  readonly many: boolean;
}

type Attributes = Readonly<Record<string, string | undefined>>;

/** The most labels: each has a digit in the terminal. */
const MAX_CHOICES = 9;

/** Reads the choices of a tag; null if it offers none. */
export const readChoices = (attributes: Attributes): Choices | null =>
  attributes.choices === undefined
    ? null
    : {
        labels: splitLabels(attributes.choices),
        other: isTrue(attributes.choices_other),
        many: isTrue(attributes.choices_many),
      };

/** Explains what is wrong with the choices of a tag; undefined if nothing is. */
export function choicesProblem(attributes: Attributes): string | undefined {
  for (const name of ['choices', 'choices_other', 'choices_many']) {
    const value = attributes[name];
    const problem = value === undefined ? undefined : choicesValueProblem(name, value);
    if (problem !== undefined) return problem;
  }
  const flag = ['choices_other', 'choices_many'].find((name) => attributes[name] !== undefined);
  return flag !== undefined && attributes.choices === undefined
    ? `\`${flag}\` needs \`choices\`, such as choices="Merge|Discard"`
    : undefined;
}

/** Explains why an attribute about choices cannot have this value; undefined if it can. */
export function choicesValueProblem(name: string, value: string): string | undefined {
  if (name === 'choices') return labelsProblem(splitLabels(value));
  if (name !== 'choices_other' && name !== 'choices_many') return undefined;
  return /^\s*(?:true|false)\s*$/i.test(value)
    ? undefined
    : `\`${name}\` can be "true" or "false", not "${value.slice(0, 60)}"`;
}

function labelsProblem(labels: readonly string[]): string | undefined {
  if (labels.includes('')) return '`choices` has an empty label beside a `|`';
  if (labels.length < 2) return `\`choices\` needs at least two labels, such as choices="Merge|Discard"`;
  if (labels.length > MAX_CHOICES) return `\`choices\` has ${labels.length} labels, and ${MAX_CHOICES} are the most`;
  const twice = labels.find((label, at) => labels.findIndex((other) => isSame(other, label)) < at);
  return twice === undefined ? undefined : `\`choices\` has the label ${twice.slice(0, 60)} twice`;
}

/** The answer to a question with choices: the labels as they are written there, or why it is none. */
export type ChosenAnswer =
  | { readonly kind: 'chosen'; readonly text: string }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Reads the answer of a person: labels in any case, or their numbers. A label counts before a number, so that `3` of `2|3|4` is that label.
 */
export function chooseAnswer(choices: Choices, text: string): ChosenAnswer {
  const { labels, other, many } = choices;
  const words = many ? splitAnswer(text) : [text.trim()];
  const found = words.map((word) => ({ word, label: findLabel(labels, word) }));
  const unknown = found.find(({ label }) => label === undefined);
  const message = `choose ${many ? 'one or more' : 'one'} of ${listChoices(choices)}`;
  if (words.length === 0 || words[0] === '') return { kind: 'refused', message };
  if (unknown === undefined) {
    const chosen = new Set(found.map(({ label }) => label));
    return { kind: 'chosen', text: labels.filter((label) => chosen.has(label)).join('\n') };
  }
  if (!other) return { kind: 'refused', message: `"${unknown.word.slice(0, 60)}" is no choice: ${message}` };
  return { kind: 'chosen', text: many ? found.map(({ word, label }) => label ?? word).join('\n') : text };
}

/** The choices with their numbers, for a message: `1 Merge, 2 Discard`. */
export const listChoices = ({ labels, other }: Choices): string =>
  `${labels.map((label, at) => `${at + 1} ${label}`).join(', ')}${other ? ', or any text' : ''}`;

/** Splits an answer of several choices: one per line, or numbers beside each other. */
function splitAnswer(text: string): readonly string[] {
  const separator = /^[\d\s,]*$/.test(text) ? /[\s,]+/ : '\n';
  return text
    .split(separator)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function findLabel(labels: readonly string[], word: string): string | undefined {
  const label = labels.find((each) => isSame(each, word));
  return label ?? (/^[1-9]$/.test(word) ? labels[Number(word) - 1] : undefined);
}

const splitLabels = (written: string): readonly string[] => written.split('|').map((label) => label.trim());

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const isTrue = (written: string | undefined): boolean => written?.trim().toLowerCase() === 'true';
