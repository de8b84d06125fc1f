import { OWN_ATTRIBUTES, type OwnAttribute } from '../core/tag.ts';
import { TAG_NAMES, type TagName, TRANSITIONS } from '../core/transitions/index.ts';
import { VARIABLE_NAMES } from '../core/variable-shape.ts';
import { OFFERED, orNothing, SCALAR, type Shape } from './shape.ts';

const MEANINGS: Readonly<Record<TagName, string>> = {
  goto: 'Go on in another state, in the same session.',
  reset: 'Go on in another state, in a new session.',
  call: 'Let a state work in a branch of this session, then go on in `return` with its result.',
  function: 'Let a state work in a session of its own, then go on in `return` with its result.',
  fork: 'Start a worker in another state, and go on in `next`.',
  result: 'Hand a result to whoever called, or end.',
};

const STATE: Shape = { ...SCALAR, pattern: '\\S' };
const NAMED: Shape = { ...SCALAR, minLength: 1 };

const ATTRIBUTES: Readonly<Record<OwnAttribute, Shape>> = {
  return: described('The state to go on in when the result is there.', STATE),
  next: described('The state to go on in after the fork.', STATE),
  cd: described('The working directory.', SCALAR),
  stack: described('What becomes of the callers.', { type: ['string'], enum: ['keep', 'clear', null] }),
  input: described('What is {{result}} in the state.', SCALAR),
  model: described('The model.', { ...NAMED, examples: OFFERED.model }),
  effort: described('How hard it thinks.', { ...NAMED, examples: OFFERED.effort }),
};

/** What `allowed_transitions` may be: the same as `readTransitions` takes, with the language's own words in lower case. */
export const TRANSITIONS_SHAPE: Shape = {
  type: ['array'],
  items: { type: 'object', anyOf: TAG_NAMES.map(entryShape) },
};

function entryShape(tag: TagName): object {
  const { body, attributes, variables } = TRANSITIONS[tag];
  const taken: readonly OwnAttribute[] = attributes;
  const others = OWN_ATTRIBUTES.filter((name) => !taken.includes(name));
  return {
    title: tag,
    required: ['tag'],
    properties: {
      tag: { description: MEANINGS[tag], const: tag },
      target: body === 'text' ? { type: 'null' } : described('The state. Any, if it is left out.', STATE),
      ...Object.fromEntries(taken.map((name) => [name, ATTRIBUTES[name]])),
    },
    ...(variables && { propertyNames: { allOf: [{ not: { enum: [...others, '<<'] } }, VARIABLE_NAMES] } }),
    additionalProperties: variables && described('A variable of the worker.', SCALAR),
  };
}

function described(description: string, shape: Shape): Shape {
  return { description, ...orNothing(shape) };
}
