import { TAG_ALIASES } from '../tags/tag.ts';
import { ask } from './ask.ts';
import { call, callFresh, callWorkflow, functionWorkflow } from './call.ts';
import { compact } from './compact.ts';
import { fork, forkEach, forkWorkflow } from './fork.ts';
import { goto } from './goto.ts';
import { join } from './join.ts';
import { reset, resetWorkflow } from './reset.ts';
import { result } from './result.ts';
import type { Transition } from './transition.ts';

/** All tags of the language. A new tag is a file beside this one and a row here. */
export const TRANSITIONS = {
  goto,
  reset,
  compact,
  call,
  function: callFresh,
  fork,
  'fork-each': forkEach,
  join,
  ask,
  result,
  'call-workflow': callWorkflow,
  'function-workflow': functionWorkflow,
  'fork-workflow': forkWorkflow,
  'reset-workflow': resetWorkflow,
} as const satisfies Record<string, Transition>;

/** The name of a tag. */
export type TagName = keyof typeof TRANSITIONS;

/** The names of all tags. */
export const TAG_NAMES = Object.keys(TRANSITIONS) as readonly TagName[];

/** The tags that enter another workflow, and those that do the same within a workflow. */
const NAMESAKES = {
  'call-workflow': 'call',
  'function-workflow': 'function',
  'fork-workflow': 'fork',
  'reset-workflow': 'reset',
} as const satisfies Partial<Record<TagName, TagName>>;

/** The name of a tag that enters another workflow. */
export type WorkflowTagName = keyof typeof NAMESAKES;

/** True if a tag enters another workflow. */
export const isWorkflowTag = (name: string): name is WorkflowTagName => Object.hasOwn(NAMESAKES, name);

/** The tag that does the same within a workflow: `call` for `call-workflow`. */
export const namesakeOf = (tag: TagName): Exclude<TagName, WorkflowTagName> =>
  isWorkflowTag(tag) ? NAMESAKES[tag] : tag;

/** The words that tags can be written with. */
export const TAG_WORDS: readonly string[] = [...TAG_NAMES, ...Object.keys(TAG_ALIASES)];

/**
 * True if an attribute of a tag has a meaning by its value: `task` with the word of the tag, `worktree="auto"` where workers
 * start. With any other value it is a variable.
 */
export const isAttributeWord = (tag: TagName, name: string, value: string | undefined): boolean => {
  const { taskWord, part }: Transition = TRANSITIONS[tag];
  if (name === 'worktree') return part === 'workers' && value === 'auto';
  return name === 'task' && taskWord !== undefined && value === taskWord;
};

/** True if a tag of this name exists. */
export const isTagName = (name: string): name is TagName => Object.hasOwn(TRANSITIONS, name);

const partOf = (name: string): Transition['part'] => {
  const transition: Transition | undefined = isTagName(name) ? TRANSITIONS[name] : undefined;
  return transition?.part;
};

/** True if a tag starts workers, so that an answer may have any number of them. */
export const startsWorkers = (name: string): boolean => partOf(name) === 'workers';

/** True if a tag may stand beside those that start workers, and say where the agent itself continues. */
export const isContinuation = (name: string): boolean => partOf(name) === 'continuation';

/** True if a tag takes this attribute of the language. */
export const takesAttribute = (tag: TagName, name: string): boolean =>
  (TRANSITIONS[tag].attributes as readonly string[]).includes(name);
