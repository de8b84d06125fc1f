import { implicitTag, leavesOpen, type PolicyEntry, permits } from '../core/policy.ts';
import { OWN_ATTRIBUTES } from '../core/tag.ts';
import { type TagName, TRANSITIONS } from '../core/transitions/index.ts';
import { isFarFetched } from './far-fetched.ts';
import type { Edge, Target } from './graph.ts';
import { isOpen, UNKNOWN } from './mentions.ts';
import type { Page, PlacedTag } from './page.ts';
import { type Sayable, sayablesOf, statesLike } from './partial.ts';
import { showPattern } from './pattern.ts';
import type { Resolver } from './resolver.ts';
import { type Place, WHOLE } from './sheet.ts';
import { isVague } from './vague.ts';

/** The transitions of one state: those of its policy, else those that its text mentions. */
export function edgesOf(page: Page, names: Resolver, resetStack: 'keep' | 'clear'): readonly Edge[] {
  const { policy } = page.source.state.rules;
  const draw = new Draw(page, names, resetStack);
  if (policy.length > 0)
    return policy.flatMap((entry, index) => [draw.entry(entry, index), ...unique(draw.filledIn(entry))]);
  const said = unique([...draw.forms.flatMap((tag) => draw.form(tag)), ...draw.halves(), ...draw.quoted()]);
  return said.length > 0 || page.open || page.kind === 'script' ? said : draw.namesInProse();
}

/** The names of the states to which the forks of a text let their parent go on. */
export function waysOn(tags: readonly PlacedTag[]): readonly string[] {
  const ways = tags.flatMap(({ name, tag }) => (name === 'goto' ? tag.body : (tag.attributes.next ?? [])));
  return [...new Set(ways.map((way) => way.trim()))];
}

/** The same for a script of which it is known what it prints together with forks. */
function waysBesideForks({ ways }: Page): readonly string[] | undefined {
  if (ways === undefined || ways.said.some(({ kind }) => kind === 'some' || kind === 'perhaps')) return undefined;
  const besides = ways.said.filter((said) => said.kind === 'forks' || (said.kind === 'one' && said.forks));
  const found = besides.flatMap((said) => ('next' in said && said.next !== null ? said.next : []));
  return found.length === 0 ? undefined : [...new Set(found)];
}

/** The words that a prompt tells its agent to write as they are: what looks like `word=…` or stands in quotes. */
export function wordsToSay(prompt: string): ReadonlySet<string> {
  const found = prompt.matchAll(
    /(?<![\p{L}\p{N}_-])(?:([\p{L}_][\p{L}\p{N}_-]*)\s*=|[`"']([\p{L}_][\p{L}\p{N}_-]*)[`"'])/gu,
  );
  return new Set([...found].flatMap(([, assigned, quoted]) => assigned ?? quoted ?? []));
}

/** More ways on than these are as good as any. */
const MOST_WAYS_ON = 8;

const NOTHING: Target = { kind: 'missing', name: '', meant: null };

class Draw {
  /** The tags of the text as they may be said. */
  readonly forms: readonly Sayable[];
  private readonly page: Page;
  private readonly names: Resolver;
  private readonly resetStack: 'keep' | 'clear';
  private readonly ways: readonly string[];
  private readonly speaksOfInput: boolean;

  constructor(page: Page, names: Resolver, resetStack: 'keep' | 'clear') {
    this.page = page;
    this.names = names;
    this.resetStack = resetStack;
    this.forms = page.forms.flatMap((tag) => sayablesOf(tag, page, names));
    this.ways = waysBesideForks(page) ?? waysOn(this.forms);
    const { text } = page.source.state;
    this.speaksOfInput = page.kind === 'prompt' && text.includes('input') && wordsToSay(text).has('input');
  }

  entry(entry: PolicyEntry, index: number): Edge {
    const { policy } = this.page.source.state.rules;
    const { attributes, tag: name } = entry;
    const given = this.page.tags
      .filter(saysMore)
      .filter((placed) => this.matches(entry, placed))
      .map(attributesOf);
    const stack = attributes.stack ?? given.find((each) => each.stack !== undefined)?.stack;
    const handsOver = given.some((each) => each.input !== undefined) || this.speaksOfInput;
    return {
      ...this.edge(name, this.page.source.entries[index]?.at ?? WHOLE),
      ...this.targets(name, entry.target, attributes),
      clears: this.clears(name, stack),
      origin: implicitTag(policy) === undefined ? 'policy' : 'implicit',
      input: attributes.input !== undefined ? 'always' : handsOver ? 'perhaps' : 'never',
      variables: variablesIn(name, [attributes, ...given]),
    };
  }

  /** The transitions that a tag with all its values stands for, if these can be meant. */
  form(placed: Sayable): readonly Edge[] {
    const { name, tag } = placed;
    const isMeant = TRANSITIONS[name].body !== 'state' || !isFarFetched(tag.body.trim(), placed, this.names);
    return isMeant ? this.said(placed) : [];
  }

  /** Where an entry leaves the state to the agent, the tags of the text that say it. */
  filledIn(entry: PolicyEntry): readonly Edge[] {
    if (!leavesOpen(entry)) return [];
    const asked = this.forms.filter((placed) => placed.sure && this.matches(entry, placed));
    return asked.flatMap((placed) => this.said(placed)).filter(isWhole);
  }

  /** The transitions that a tag in the text stands for: one, unless others say where its parent goes on. */
  said({ name, tag, at, part }: Sayable): readonly Edge[] {
    const { attributes } = tag;
    const unclear = Object.keys(attributes).some(isOpen);
    const base = {
      ...this.edge(name, at),
      ...this.targets(name, tag.body, attributes),
      clears: this.clears(name, attributes.stack),
      origin: part ? 'part' : 'text',
      input: attributes.input !== undefined ? 'always' : this.speaksOfInput || unclear ? 'perhaps' : 'never',
      variables: variablesIn(name, [attributes]),
    } as const;
    if (name !== 'fork' || attributes.next !== undefined) return [base];
    if (this.ways.length === 0) return [{ ...base, next: NOTHING }];
    if (this.ways.length > MOST_WAYS_ON) return [{ ...base, next: ANYWHERE, borrowsNext: true }];
    return this.ways.map((way) => ({ ...base, next: this.target(way), borrowsNext: true }));
  }

  /** Talk about a tag: that there is a result is all one has to know of it, other tags lead somewhere. */
  halves(): readonly Edge[] {
    return this.page.halves.flatMap(({ name, after, at }) => {
      if (this.page.tags.some((each) => each.name === name)) return [];
      const known = after !== '' && this.names.resolve(after).kind === 'found';
      const to = TRANSITIONS[name].body === 'text' ? null : known ? this.target(after) : ANYWHERE;
      const { required } = TRANSITIONS[name];
      const then = (key: 'return' | 'next') => (required.some((each) => each === key) ? ANYWHERE : null);
      // What else half a fork says is not known.
      const variables = name === 'fork' ? [UNKNOWN] : [];
      return [{ ...this.edge(name, at), to, return: then('return'), next: then('next'), variables }];
    });
  }

  /** What is written in code in the middle of a sentence may well be said; a block of code is an example. */
  quoted(): readonly Edge[] {
    const edges = this.page.quoted.filter(({ fenced }) => !fenced).flatMap((tag) => this.said({ ...tag, part: false }));
    return edges.filter(isWhole).map((edge) => ({ ...edge, origin: 'guess' }));
  }

  /** A prompt without any tag may still name the state that comes next. */
  namesInProse(): readonly Edge[] {
    const words = new Set(this.page.source.state.text.match(/[\w-]+(?:\.[\w-]+)*/g) ?? []);
    const files = [...words].flatMap((word) => {
      const found = this.names.scopeOf([word]).files.length > 0 ? this.names.resolve(word) : undefined;
      return found?.kind === 'found' && found.file !== this.page.file ? found.file : [];
    });
    return [...new Set(files)].map((file) => {
      return { ...this.edge('goto', WHOLE), origin: 'guess', to: { kind: 'state', file } };
    });
  }

  private edge(tag: TagName, at: Place): Edge {
    const { file: from } = this.page;
    const ends = { to: null, return: null, next: null, borrowsNext: false, clears: false } as const;
    return { from, tag, ...ends, origin: 'text', at, input: 'never', variables: [] };
  }

  private targets(name: TagName, target: string | null, attributes: Readonly<Record<string, string>>) {
    const { body, required } = TRANSITIONS[name];
    const inPolicy = this.page.source.state.rules.policy.length > 0;
    const then = (key: 'return' | 'next'): Target | null => {
      if (!(required as readonly string[]).includes(key)) return null;
      const written = attributes[key];
      return written === undefined ? (inPolicy ? ANYWHERE : NOTHING) : this.target(written);
    };
    const to = body === 'text' ? null : target === null ? ANYWHERE : this.target(target);
    return { to, return: then('return'), next: then('next') };
  }

  private target(written: string): Target {
    const name = written.trim();
    const found = this.names.resolve(name);
    if (found.kind === 'found') return { kind: 'state', file: found.file };
    if (statesLike(name, this.page, this.names)?.length === 0) {
      return { kind: 'missing', name: showPattern(name), meant: null };
    }
    // A variable between single quotes is a mistake, but what it should have been is not known.
    const quoted = this.page.kind === 'script' && (name === '' || isOpen(name) || name.includes('$'));
    if (quoted || isVague(name, this.page, this.names)) return { kind: 'any', written: name };
    const meant = this.names.meant(name);
    if (found.kind !== 'ambiguous') return { kind: 'missing', name, meant };
    return { kind: 'missing', name, meant, others: this.names.couldBe(name).filter((file) => file !== meant) };
  }

  private matches(entry: PolicyEntry, { name, tag }: PlacedTag): boolean {
    if (entry.tag !== name) return false;
    const { attributes: wanted, target } = entry;
    const { attributes } = tag;
    const all = [target ?? '', tag.body, wanted.return, wanted.next, attributes.return, attributes.next];
    return permits([entry], tag, this.names.scopeOf(all.filter((each) => each !== undefined)));
  }

  private clears(name: TagName, stack: string | undefined): boolean {
    return name === 'reset' && (stack ?? this.resetStack) === 'clear';
  }
}

/** Whether all that an edge leads to are states. */
const isWhole = ({ to, return: back, next }: Edge): boolean =>
  [to, back, next].every((target) => target === null || target.kind === 'state');

const attributesOf = ({ tag }: PlacedTag) => tag.attributes;

/** Whether a tag says more than where it leads. */
const saysMore = ({ tag }: PlacedTag): boolean =>
  Object.keys(tag.attributes).some((key) => key !== 'return' && key !== 'next');

const ANYWHERE: Target = { kind: 'any', written: '' };

/** The variables that a fork gives. */
function variablesIn(name: TagName, given: readonly Readonly<Record<string, string>>[]): readonly string[] {
  if (!TRANSITIONS[name].variables) return [];
  const own: readonly string[] = OWN_ATTRIBUTES;
  return [...new Set(given.flatMap((each) => Object.keys(each)).filter((key) => !own.includes(key)))];
}

/** Edges that differ in more than where and how surely they are said; the first of each counts. */
function unique(edges: readonly Edge[]): readonly Edge[] {
  const seen = new Set<string>();
  return edges.filter((edge) => {
    const key = JSON.stringify({ ...edge, at: null, origin: null });
    return !seen.has(key) && seen.add(key);
  });
}
