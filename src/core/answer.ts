import { resolveState, type Scope } from './names.ts';
import { implicitTag, type Policy, permits, sameState } from './policy.ts';
import { effortName, modelName } from './preference.ts';
import { type Problem, problem, shortened } from './problem.ts';
import { OWN_ATTRIBUTES, type OwnAttribute, readTags, type Tag } from './tag.ts';
import { isTagName, TAG_NAMES, type TagName, TRANSITIONS } from './transitions/index.ts';
import type { Go } from './transitions/transition.ts';
import { variableProblem } from './variables.ts';

/** All that decides what an answer means, besides its text. */
export interface Context {
  readonly policy: Policy;
  readonly scope: Scope;
  /** For each folder named by a `cd`: its absolute path, or null if there is no such folder. */
  readonly folders: Readonly<Record<string, string | null>>;
  /** What `<reset>` does with the return stack when it does not say. */
  readonly resetStack: 'keep' | 'clear';
  /** Whether the only permitted transition may be taken without being said. */
  readonly implicit: boolean;
}

export interface Heading {
  readonly tag: TagName;
  readonly go: Go;
}

/** What an answer comes to: where to go (several headings are forks and their continuation), or what is wrong. */
export type Verdict =
  | {
      readonly kind: 'go';
      readonly headings: readonly Heading[];
      readonly implicit: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'wrong'; readonly problem: Problem };

/** Reads an answer the way the language says. Any text gives a verdict. */
export function judge(text: string, context: Context): Verdict {
  const reading = readTags(text, TAG_NAMES);
  if (reading.kind === 'unclosed') return wrong(problem('unclosed_tag', reading.message));
  const only = reading.tags.length === 0 && context.implicit ? implicitTag(context.policy) : undefined;
  const tags = continued(only === undefined ? merged(reading.tags) : [only], context.scope);
  if ('message' in tags) return wrong(tags);
  const headings: Heading[] = [];
  const warnings: string[] = [];
  for (const tag of tags) {
    const exact = exactly(tag, context);
    if ('message' in exact) return wrong(exact);
    if (!permits(context.policy, tag, context.scope))
      return wrong(problem('not_permitted', `${showWhole(tag)} is not permitted here`));
    headings.push(exact);
    for (const warning of warningsOf(tag)) warnings.push(warning);
  }
  return { kind: 'go', headings, implicit: only !== undefined, warnings };
}

/** The folders that an answer wants to work in, said or implicit: someone has to see whether they exist. */
export function foldersNamed(text: string, policy: Policy): readonly string[] {
  const reading = readTags(text, TAG_NAMES);
  if (reading.kind === 'unclosed') return [];
  const tags = reading.tags.length > 0 ? reading.tags : [implicitTag(policy)];
  return [...new Set(tags.flatMap((tag) => tag?.attributes.cd ?? []))];
}

const wrong = (problem: Problem): Verdict => ({ kind: 'wrong', problem });

/** Identical tags are one, but identical forks are two workers. */
function merged(tags: readonly Tag[]): readonly Tag[] {
  const seen = new Set<string>();
  return tags.filter((tag) => {
    const said = JSON.stringify([tag.name, tag.body, Object.entries(tag.attributes).sort()]);
    const again = seen.has(said) && tag.name !== 'fork';
    seen.add(said);
    return !again;
  });
}

/** One tag, or forks that agree on where their parent goes on, each of them now saying so. */
function continued(tags: readonly Tag[], scope: Scope): readonly Tag[] | Problem {
  const forks = tags.filter((tag) => tag.name === 'fork');
  const [other, another] = tags.filter((tag) => tag.name !== 'fork');
  if (tags.length === 0) return problem('no_tag', 'it contains no tag');
  if (another !== undefined || (other !== undefined && other.name !== 'goto' && forks.length > 0)) {
    return problem('several_tags', `found ${tags.length} tags: ${listed(tags)}`);
  }
  if (forks.length === 0) return tags;
  const ways = [...forks.map((tag) => tag.attributes.next), other?.body].filter((way) => way !== undefined);
  const [way = ''] = ways;
  const astray = ways.find((each) => each.trim() !== way.trim() && !sameState(each, way, scope));
  if (astray !== undefined) {
    const message = `the forks do not agree on where their parent goes on: \`${shortened(way)}\` or \`${shortened(astray)}\``;
    return problem('several_tags', message);
  }
  const agreed = forks.map((tag) => (way === '' ? tag : { ...tag, attributes: { ...tag.attributes, next: way } }));
  return other === undefined ? agreed : [...agreed, other];
}

/** Checks a tag by itself and makes its names exact. */
function exactly(tag: Tag, context: Context): Heading | Problem {
  const name = tag.name;
  if (!isTagName(name)) return problem('no_tag', `${show(tag)} is no tag of the language`);
  const transition = TRANSITIONS[name];
  const fault = attributeFault(tag, name, context);
  if (fault !== undefined) return fault;
  const states: Record<string, string | null> = { return: null, next: null, body: tag.body };
  const named = [...transition.required, ...(transition.body === 'state' ? ['body'] : [])];
  for (const key of named) {
    const found = resolveState((key === 'body' ? tag.body : (tag.attributes[key] ?? '')).trim(), context.scope);
    if (found.kind !== 'found') {
      return problem('bad_state', `${show(tag)}: ${key === 'body' ? '' : `\`${key}\`: `}${found.message}`);
    }
    states[key] = found.file;
  }
  const { cd, stack, input, model, effort } = tag.attributes;
  return {
    tag: name,
    go: {
      body: states.body ?? tag.body,
      return: states.return ?? null,
      next: states.next ?? null,
      cd: cd === undefined ? null : (context.folders[cd] ?? null),
      stack: stack === 'clear' || stack === 'keep' ? stack : context.resetStack,
      input: input ?? null,
      model: model === undefined ? null : modelName(model),
      effort: effort === undefined ? null : effortName(effort),
      variables: Object.fromEntries(
        Object.entries(tag.attributes).filter(([key]) => transition.variables && !isOwn(key)),
      ),
    },
  };
}

/** The first attribute that is missing, in the wrong place or without sense. */
function attributeFault(tag: Tag, name: TagName, context: Context): Problem | undefined {
  const { attributes, required, variables } = TRANSITIONS[name];
  for (const [key, value] of Object.entries(tag.attributes)) {
    if (isOwn(key) && !(attributes as readonly OwnAttribute[]).includes(key)) {
      return problem('misplaced_attribute', `${show(tag)}: \`${key}\` has no meaning on <${name}>`);
    }
    if (value.includes('\0')) return problem('bad_attribute', `${show(tag)}: \`${key}\` contains a NUL character`);
    const refused = variables && !isOwn(key) ? variableProblem(key, context.scope.platform) : undefined;
    if (refused !== undefined) return problem('bad_attribute', `${show(tag)}: ${refused}`);
  }
  const missing = required.find((key) => (tag.attributes[key] ?? '').trim() === '');
  if (missing !== undefined) return problem('missing_attribute', `${show(tag)}: \`${missing}="STATE"\` is missing`);
  const { cd, stack } = tag.attributes;
  const empty = PREFERENCES.find((key) => tag.attributes[key]?.trim() === '');
  if (empty !== undefined) return problem('bad_attribute', `${show(tag)}: \`${empty}\` is empty`);
  if (stack !== undefined && stack !== 'clear' && stack !== 'keep') {
    return problem('bad_attribute', `${show(tag)}: \`stack\` can be "clear" or "keep", not "${shortened(stack)}"`);
  }
  if (cd !== undefined && (Object.hasOwn(context.folders, cd) ? context.folders[cd] : null) === null) {
    return problem('no_folder', `${show(tag)}: there is no folder \`${shortened(cd)}\``);
  }
  return undefined;
}

const PREFERENCES = ['model', 'effort'] as const;

/** What is odd about a tag but does not keep it from being followed. */
function warningsOf(tag: Tag): readonly string[] {
  const takes = isTagName(tag.name) && TRANSITIONS[tag.name].variables;
  const ignored = takes ? [] : Object.keys(tag.attributes).filter((key) => !isOwn(key));
  const shown = show(tag);
  return [
    ...tag.repeated.map((key) => `${shown} gives \`${key}\` more than once; the last one counts`),
    ...ignored.map((key) => `${shown}: \`${key}\` means nothing on <${tag.name}> and is ignored`),
  ];
}

const isOwn = (key: string): key is OwnAttribute => (OWN_ATTRIBUTES as readonly string[]).includes(key);

/** A tag as a sentence can quote it: short, and with its line when it stands in a message. */
const show = (tag: Tag): string => quote(tag, '');

/** The same with its attributes, where they may make the difference. */
function showWhole(tag: Tag): string {
  let written = '';
  for (const key in tag.attributes) {
    if (written.length > MOST_SHOWN) break;
    written += ` ${shortened(key)}="${shortened(tag.attributes[key] ?? '')}"`;
  }
  return quote(tag, shortened(written));
}

function quote({ name, body, line }: Tag, attributes: string): string {
  const rest = isTagName(name) && TRANSITIONS[name].body === 'text' ? '' : `${shortened(body)}</${name}>`;
  return `\`<${name}${attributes}>${rest}\`${line > 0 ? ` (line ${line})` : ''}`;
}

const MOST_LISTED = 5;
const MOST_SHOWN = 60;

function listed(tags: readonly Tag[]): string {
  const shown = tags.slice(0, MOST_LISTED).map(showWhole);
  const more = tags.length - shown.length;
  const last = more > 0 ? `${more} more` : shown.pop();
  return `${shown.join(', ')} and ${last}`;
}
