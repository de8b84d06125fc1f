import { nearest } from '../../core/nearest.ts';
import { statesNamed } from '../../core/policy.ts';
import { OWN_ATTRIBUTES } from '../../core/tag.ts';
import type { Page } from '../page.ts';
import type { Fault, Rule, View } from '../rule.ts';
import { type Place, WHOLE } from '../sheet.ts';
import { type Stray, strayFrontmatterIn } from '../stray-frontmatter.ts';

/** The frontmatter says something that has no effect, such as a key that is misspelt, or it has none as a whole. */
export const keyWithoutEffect: Rule = {
  id: 'key-without-effect',
  level: 'warning',
  check: (view) =>
    view.pages.flatMap((page) => [
      ...page.source.findings.flatMap(({ severity, file, line, column, message }): Fault[] => {
        if (severity !== 'warning') return [];
        return [{ file, at: { line, column }, message, hint: 'Correct it, or remove it.' }];
      }),
      ...(view.isMeant(page) ? strayFrontmatter(page) : []),
      ...emptyPolicy(page),
      ...repeatedEntries(page, view),
      ...misspeltNext(page, view),
    ]),
};

function strayFrontmatter(page: Page): readonly Fault[] {
  const stray = strayFrontmatterIn(page);
  if (stray === undefined) return [];
  const [message, hint] = STRAY[stray.why];
  return [{ file: page.file, at: page.place(stray.offset), message, hint }];
}

const STRAY: Readonly<Record<Stray['why'], readonly [message: string, hint: string]>> = {
  script: [
    'a script has no frontmatter: these lines are run as commands',
    'Remove them; only a prompt has frontmatter.',
  ],
  unopened: [
    'this is no frontmatter and has no effect, because no `---` opens it',
    'Let the first line be `---` and nothing else.',
  ],
  below: [
    'this is no frontmatter and has no effect, because something stands before it',
    'Let the file begin with it: the first `---` must be the first line.',
  ],
};

/** A list of nothing, which permits everything. */
function emptyPolicy({ file, source, broken, tags }: Page): readonly Fault[] {
  const at = source.keys.allowed_transitions;
  // Without any tag there is no way out, which another rule tells.
  if (at === undefined || broken || tags.length === 0 || source.state.rules.policy.length > 0) return [];
  const message = '`allowed_transitions` is empty, which is as if it were not there: every tag is permitted';
  return [{ file, at, message, hint: 'Write down what is permitted, or remove the key.', level: 'info' }];
}

/** Entries that permit what an entry before them permits. */
function repeatedEntries({ file, source }: Page, { names }: View): readonly Fault[] {
  const seen = new Map<string, Place>();
  return source.state.rules.policy.flatMap((entry, index) => {
    const fileOf = (name: string): string => {
      const found = names.resolve(name);
      return found.kind === 'found' ? found.file : name;
    };
    const states = Object.fromEntries(statesNamed(entry).map(([key, name]) => [key, fileOf(name)]));
    const said = JSON.stringify([entry.tag, ...Object.entries({ ...entry.attributes, ...states }).sort()]);
    const at = source.entries[index]?.at ?? WHOLE;
    const before = seen.get(said);
    if (before === undefined) seen.set(said, at);
    if (before === undefined || entry.tag === 'fork') return [];
    const message = `this entry permits nothing that the one on line ${before.line} does not`;
    return [{ file, at, message, hint: 'Remove one of them.' }];
  });
}

/** A variable in the entry of a fork that names a state and is probably meant as its `next`. */
function misspeltNext({ file, source }: Page, { names }: View): readonly Fault[] {
  const own: readonly string[] = OWN_ATTRIBUTES;
  return source.state.rules.policy.flatMap(({ tag, attributes }, index) => {
    if (tag !== 'fork' || attributes.next !== undefined) return [];
    const key = Object.keys(attributes).find((each) => {
      const isState = names.resolve(attributes[each] ?? '').kind === 'found';
      return isState && !own.includes(each) && nearest(each, ['next']) !== undefined;
    });
    if (key === undefined) return [];
    const message = `\`${key}\` is taken for a variable of the worker (did you mean next?)`;
    return [{ file, at: source.entries[index]?.keys[key] ?? WHOLE, message, hint: 'Write `next`.' }];
  });
}
