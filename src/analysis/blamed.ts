import type { Page } from './page.ts';
import type { Resolver } from './resolver.ts';
import type { Told, View } from './rule.ts';

/** Mistakes in a tag or an entry, which stand on the lines that name its states. */
const IN_PLACE = [
  'key-without-effect',
  'frontmatter',
  'unknown-tag',
  'unclosed-tag',
  'missing-attribute',
  'misplaced-attribute',
  'forbidden-tag',
];
/** Mistakes that may keep any tag of a file from being heard. */
const IN_FILE = ['no-way-out', 'silent-path', 'several-tags', 'wasted-tag', 'unquoted-tag', 'bash-syntax'];

/** The states of which a mistake that is told already speaks: that nothing leads there is no news. */
export function blamedIn({ pages, told, names }: View): ReadonlySet<string> {
  const files = pages.flatMap((page) => {
    const faults = told.get(page.file) ?? [];
    const inPlace = faults.filter(({ rule }) => IN_PLACE.includes(rule));
    const whole = faults.some(({ rule }) => IN_FILE.includes(rule));
    const texts = [...linesOf(inPlace, page), ...(whole ? [page.source.state.text] : [])];
    return texts.flatMap((text) => statesIn(text, names));
  });
  return new Set(files);
}

function linesOf(faults: readonly Told[], { source }: Page): readonly string[] {
  if (faults.length === 0) return [];
  const lines = source.text.split('\n');
  return faults.flatMap(({ at }) => {
    const first = lines[at.line - 1];
    if (first === undefined) return [];
    // A key of the frontmatter has what is indented below it.
    const length = /^[\w-]+\s*:/.test(first) ? lines.slice(at.line).findIndex((line) => /^[^\s-]/.test(line)) : 0;
    return lines.slice(at.line - 1, at.line + Math.max(0, length));
  });
}

const NAME = /(?<=([>"'=:]\s*)?)(?<![\p{L}\p{N}_.-])[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*/gu;

/** The states that a text names by their files, or as tags and policies do. */
function statesIn(text: string, names: Resolver): readonly string[] {
  return [...text.matchAll(NAME)].flatMap(([word, inTag]) =>
    names.couldBe(word).filter((file) => file === word || inTag !== undefined),
  );
}
