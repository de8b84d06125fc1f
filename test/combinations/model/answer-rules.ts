import { resolve } from 'node:path';
import {
  type AnswerDef,
  isPromptFile,
  type PolicyEntryDef,
  type StateDef,
  type TagDef,
  type WorkflowDef,
} from '../case.ts';

/** The interpretation of an answer. */
export type Verdict =
  | { readonly kind: 'go'; readonly tags: readonly TagDef[]; readonly implicit: boolean }
  | { readonly kind: 'wrong'; readonly problem: string };

/** What the rules need to know about the agent that answered. */
export interface AnswerFacts {
  readonly state: StateDef;
  readonly workflow: WorkflowDef;
  readonly mustSay: boolean;
  /** Fills in `{{…}}`. */
  readonly render: (template: string) => string;
  /** Whether there is a file or a folder of this path. */
  readonly hasFile: (path: string) => boolean;
  readonly hasFolder: (path: string) => boolean;
}

/** Attributes that name a state. */
const STATE_ATTRIBUTES = ['return', 'next', 'timeout_next'];

/** Says what an answer of a state means, or which kind of problem it has. */
export function interpret(answer: AnswerDef, facts: AnswerFacts): Verdict {
  const { state, mustSay } = facts;
  const isDenied = mustSay || answer.deny.length > 0;
  const entry = completeEntry(state.policy);
  const only = entry === null ? null : renderTag(entry, facts.render);
  const mayForce = state.forceImplicit && isPromptFile(state.file);
  const isForced = mayForce && only !== null && !isDenied;
  // Nobody knows whether the work was done: then a forced transition must be said, too.
  const said = mayForce && answer.deny.length > 0 && !mustSay ? { ...answer, tags: [], isCut: false } : answer;
  if (isForced && only !== null) return { kind: 'go', tags: [only], implicit: true };
  if (said.isCut) return wrong('unclosed_tag');
  const tags = said.tags.map((tag) => renderTag(tag, facts.render));
  if (tags.length === 0) {
    if (only !== null && isPromptFile(state.file) && !isDenied) return { kind: 'go', tags: [only], implicit: true };
    return wrong('no_tag');
  }
  if (!mayStandTogether(tags)) return wrong('several_tags');
  for (const tag of tags) {
    const problem = findProblem(tag, facts);
    if (problem !== null) return wrong(problem);
  }
  return { kind: 'go', tags: tags.map((tag) => withPolicyInput(tag, facts)), implicit: false };
}

const wrong = (problem: string): Verdict => ({ kind: 'wrong', problem });

/** The tag with its variables filled in, as canned answers are. */
export const renderTag = ({ tag, target, attributes }: TagDef, render: (template: string) => string): TagDef => ({
  tag,
  target: render(target),
  attributes: Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, render(value)])),
});

const STARTS_WORKERS = new Set(['fork', 'fork-each', 'fork-workflow']);

/** Several tags are forks, and perhaps one goto or join beside them. */
function mayStandTogether(tags: readonly TagDef[]): boolean {
  if (tags.length === 1) return true;
  const others = tags.filter(({ tag }) => !STARTS_WORKERS.has(tag));
  return (
    others.length < tags.length && others.length <= 1 && others.every(({ tag }) => tag === 'goto' || tag === 'join')
  );
}

function findProblem(tag: TagDef, { state, workflow, hasFile, hasFolder }: AnswerFacts): string | null {
  const isText = tag.tag === 'result' || tag.tag === 'ask';
  const isPath = tag.tag.endsWith('-workflow');
  const named = [
    ...(isText || isPath ? [] : [tag.target]),
    ...STATE_ATTRIBUTES.flatMap((key) => tag.attributes[key] ?? []),
  ];
  const { cd, in: items } = tag.attributes;
  if (cd !== undefined && !hasFolder(cd)) return 'no_folder';
  if (named.some((name) => !workflow.states.has(name))) return 'bad_state';
  if ([items, tag.attributes['input-file']].some((path) => path !== undefined && !hasFile(path))) return 'no_file';
  if (state.policy.length > 0 && findEntry(tag, state.policy) === undefined) return 'not_permitted';
  if (tag.tag === 'result' && state.hasSchema && !fitsSchema(tag.target)) return 'bad_result';
  return null;
}

/** The entry that permits a tag: it agrees with everything that is in the entry, but for its `input`. */
function findEntry(tag: TagDef, policy: readonly PolicyEntryDef[]): PolicyEntryDef | undefined {
  return policy.find(({ tag: name, target, attributes }) => {
    if (name !== tag.tag || (target !== undefined && target !== tag.target)) return false;
    return Object.entries(attributes).every(([key, value]) => {
      if (key === 'input') return true;
      return key === 'payload' ? tag.target.trim() === value : tag.attributes[key] === value;
    });
  });
}

/** True if an entry of the policy permits a tag. */
export const isPermitted = (tag: TagDef, policy: readonly PolicyEntryDef[]): boolean =>
  findEntry(tag, policy) !== undefined;

function withPolicyInput(tag: TagDef, { state, render }: AnswerFacts): TagDef {
  const input = findEntry(tag, state.policy)?.attributes.input;
  if (input === undefined || tag.attributes.input !== undefined || tag.attributes['input-file'] !== undefined)
    return tag;
  return { ...tag, attributes: { ...tag.attributes, input: render(input) } };
}

/** The tag that the only entry of a policy stands for, if nothing is missing in it. */
function completeEntry(policy: readonly PolicyEntryDef[]): TagDef | null {
  const [entry] = policy;
  if (entry === undefined || policy.length > 1) return null;
  const { tag, target, attributes } = entry;
  if (tag === 'ask') return null;
  if (tag === 'result')
    return attributes.payload === undefined ? null : { tag, target: attributes.payload, attributes: {} };
  if (target === undefined) return null;
  const needs = NEEDED[tag] ?? [];
  return needs.every((key) => attributes[key] !== undefined) ? { tag, target, attributes } : null;
}

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  call: ['return'],
  function: ['return'],
  'call-workflow': ['return'],
  'function-workflow': ['return'],
  fork: ['next'],
  'fork-each': ['next', 'in'],
  'fork-workflow': ['next'],
};

/** The schema of all generated states: an object with a whole number `n`. */
export function fitsSchema(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'n' in value && Number.isInteger(value.n);
  } catch {
    return false;
  }
}

/** Whether a pattern of an evaluator matches. */
export function matches(pattern: string, text: string): boolean {
  const flags = /^\(\?([is]+)\)/.exec(pattern);
  return new RegExp(pattern.slice(flags?.[0].length ?? 0), `m${flags?.[1] ?? ''}`).test(text);
}

/** The folder that a `cd` leads to. */
export const folderOf = (cd: string, cwd: string): string => resolve(cwd, cd);
