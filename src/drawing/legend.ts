import { isUntaken, partedOf } from './figures.ts';
import { type ArrowKind, isState, type Picture, type Shape, type StateShape } from './picture.ts';

const SHAPE_WORDS: Readonly<Partial<Record<Shape['kind'], string>>> = {
  prompt: 'prompt for Claude Code',
  script: 'script',
  missing: 'state that does not exist',
  ambiguous: 'name that could mean several states',
  gone: 'state that exists no longer',
  end: 'the agent ends with its result',
  back: 'the result goes back to the caller',
  any: 'any state: its name is known only when it is said',
  unsaid: 'not said where to',
};

const ARROW_WORDS: Readonly<Partial<Record<ArrowKind, string>>> = {
  goto: 'goto: the conversation goes on',
  reset: 'reset: with a new conversation',
  call: 'call: a subtask that knows the conversation',
  function: 'function: a subtask that knows nothing of it',
  return: 'return: where the caller goes on',
  fork: 'fork: a worker starts',
  next: 'next: where its parent goes on',
  result: 'result',
  guess: 'only named in the prompt, or shown in code',
};

const COMPUTED = 'dotted: one of the states that fit a name known in part';
const OPEN = 'dashed: may take ways that are not drawn';

/** What a run leaves behind in a picture. */
const TRACES: Readonly<Record<string, string>> = {
  here: 'an agent is here (▶)',
  failed: 'an agent failed here (✗)',
  untaken: 'no agent was here',
};

/** What the shapes and arrows of a picture stand for; only those that are in it. */
export function legendOf({ shapes, arrows, travelled }: Picture): string {
  const computed = arrows.some((arrow) => arrow.computed);
  const open = shapes.some((shape) => isState(shape) && shape.open);
  const kinds = (all: readonly { readonly kind: string }[]): ReadonlySet<string> =>
    new Set(all.map(({ kind }) => kind));
  const rows = (
    words: Readonly<Record<string, string>>,
    present: ReadonlySet<string>,
    sample: (kind: string) => string,
  ) =>
    Object.entries(words)
      .filter(([kind]) => present.has(kind))
      .map(([kind, text]) => `<li>${sample(kind)}<span>${text}</span></li>`);
  return [
    ...rows(SHAPE_WORDS, kinds(shapes), (kind) => sampleOf(`node ${kind}`, SHAPE_SAMPLES[kind] ?? BOX)),
    ...(open ? [`<li>${sampleOf('node prompt open', ROUND)}<span>${OPEN}</span></li>`] : []),
    ...rows(TRACES, tracesIn(shapes.filter(isState), travelled), (kind) => sampleOf(`node prompt ${kind}`, ROUND)),
    ...rows(ARROW_WORDS, kinds(arrows), (kind) => sampleOf(`edge ${kind}`, ARROW)),
    ...(computed ? [`<li>${sampleOf('edge goto computed', ARROW)}<span>${COMPUTED}</span></li>`] : []),
  ].join('\n');
}

function tracesIn(states: readonly StateShape[], travelled: boolean): ReadonlySet<string> {
  const parted = states.map(({ agents }) => partedOf(agents));
  const traces = [
    ['here', parted.some(({ here }) => here.length > 0)],
    ['failed', parted.some(({ failed }) => failed.length > 0)],
    ['untaken', states.some((state) => isUntaken(state, travelled))],
  ] as const;
  return new Set(traces.flatMap(([trace, isThere]) => (isThere ? [trace] : [])));
}

const ROUND = '<rect x="4" y="3" width="32" height="12" rx="5"/>';
const BOX = '<polygon points="4,3 36,3 36,15 4,15"/>';
const ARROW = '<path d="M2,9 L32,9"/><polygon points="31,5 39,9 31,13"/>';

const SHAPE_SAMPLES: Readonly<Record<string, string>> = {
  prompt: ROUND,
  any: ROUND,
  end: '<ellipse cx="20" cy="9" rx="4" ry="4"/><ellipse cx="20" cy="9" rx="7" ry="7" class="ring"/>',
  back: '<ellipse cx="20" cy="9" rx="6" ry="6"/>',
};

const sampleOf = (kind: string, drawing: string): string =>
  `<svg viewBox="0 0 40 18" width="40" height="18" aria-hidden="true"><g class="${kind}">${drawing}</g></svg>`;
