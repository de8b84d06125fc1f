import fc from 'fast-check';
import type { AnswerContext } from '../../src/core/answers/answer.ts';
import type { PolicyEntry } from '../../src/language/policy.ts';
import type { Platform, Scope } from '../../src/language/state-names.ts';
import type { Tag } from '../../src/language/tags/tag.ts';
import { TAG_NAMES, type TagName } from '../../src/language/transitions/index.ts';
import type { TransitionTarget } from '../../src/language/transitions/transition.ts';

export const scopeOf = (files: readonly string[], platform: Platform = 'unix'): Scope => ({ files, platform });

/** A workflow of five prompts and a script. */
export const SCOPE = scopeOf(['A.md', 'B.md', 'N.md', 'R.md', 'RUN.sh', 'W.md']);

/** A state without a policy, on Unix, in which the folder `sub` exists and `gone` does not. */
export const contextOf = (changes: Partial<AnswerContext> = {}): AnswerContext => ({
  policy: [],
  scope: SCOPE,
  folders: { sub: '/w/sub', gone: null },
  files: { 'out.txt': { text: 'said "no"' }, 'big.txt': { problem: 'it has more than 16 MiB' } },
  workflows: {},
  state: 'A.md',
  nesting: 0,
  maxDepth: 8,
  resetStack: 'keep',
  maxForks: null,
  implicit: 'without_tag',
  variables: {},
  openWorkers: () => 0,
  ...changes,
});

export const entryOf = (
  tag: TagName,
  target: string | null = null,
  attributes: Readonly<Record<string, string>> = {},
): PolicyEntry => ({ tag, target, attributes });

/** The entry of a `<result>` with exactly this text. */
export const payloadEntry = (payload: string): PolicyEntry => ({ ...entryOf('result'), payload });

export const tagOf = (
  name: string,
  body: string,
  attributes: Readonly<Record<string, string>> = {},
  line = 1,
): Tag => ({ name, attributes, repeated: [], body, line });

export const goOf = (body: string, changes: Partial<TransitionTarget> = {}): TransitionTarget => ({
  body,
  workflow: null,
  return: null,
  next: null,
  cd: null,
  stack: 'keep',
  input: null,
  takesTaskWord: false,
  takesWorktree: false,
  model: null,
  effort: null,
  own: {},
  variables: {},
  join: null,
  items: null,
  ...changes,
});

const FRAGMENTS = [
  ...TAG_NAMES.flatMap((name) => [`<${name}>`, `</${name}>`, `<${name} `, `<${name}`, `</${name} >`, `<${name}/>`]),
  '<GoTo>',
  '</RESULT>',
  '<gotofoo>',
  '<results>',
  '<goto>A.md</goto>',
  '<result>x</result>',
  '<fork next="N.md">W.md</fork>',
  '<call return=R>A</call>',
  '<reset cd="sub">B</reset>',
  '"',
  "'",
  '=',
  '<',
  '>',
  '/',
  '\\',
  ' ',
  '\t',
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\u2028',
  '\0',
  '\ud800',
  '\udc00',
  '😀',
  '`',
  '``',
  '```',
  '````',
  '~~~',
  '~~~~',
  '```xml\n',
  '\n```\n',
  '\n~~~\n',
  '<!--',
  '-->',
  '<!-->',
  '--',
  '{{',
  '}}',
  'next="N.md"',
  "return='R'",
  'return=R',
  'cd=sub',
  'cd="gone"',
  'stack=clear',
  'input=""',
  'model=OPUS',
  'PATH=x',
  '__proto__="x"',
  'constructor=y',
  'A',
  'A.md',
  'a/b',
  'W',
  '&lt;',
  '$&',
  'text',
];

/** Any text at all: what a model might write, made of the pieces that a reader of tags could stumble over. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)) },
);
