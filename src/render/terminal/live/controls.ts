/** The user's view settings. */
export interface ViewControls {
  /** How many agents, or states if they are folded, are scrolled out of view. */
  readonly offset: number;
  /** True if agents are folded into a line for each state. */
  readonly isFolded: boolean;
  /** True if the view stands still. */
  readonly isFrozen: boolean;
  readonly showsHelp: boolean;
}

/** The view before any key. */
export const INITIAL_CONTROLS: ViewControls = { offset: 0, isFolded: false, isFrozen: false, showsHelp: false };

/** How far can be scrolled, and how many lines a page has. */
export interface ScrollRange {
  readonly lastOffset: number;
  readonly page: number;
}

/** The keys, for people. */
export const KEYS_HELP = [
  '↑ ↓ PgUp PgDn scroll',
  'a answers a question',
  's says something to an agent',
  'i interrupts one',
  'f folds agents by state',
  'space freezes the view',
  'Ctrl-C stops the run',
  '? hides this',
];

type KeyEffect = (controls: ViewControls, range: ScrollRange) => Partial<ViewControls>;

const scrollBy =
  (lines: (range: ScrollRange) => number): KeyEffect =>
  ({ offset }, range) => ({ offset: Math.min(offset, range.lastOffset) + lines(range) });

const toggleFrozen: KeyEffect = ({ isFrozen }) => ({ isFrozen: !isFrozen });
const toggleHelp: KeyEffect = ({ showsHelp }) => ({ showsHelp: !showsHelp });
const [lineUp, lineDown] = [scrollBy(() => -1), scrollBy(() => 1)];
const [toTop, toEnd] = [() => ({ offset: 0 }), scrollBy(({ lastOffset }) => lastOffset)];

const KEY_EFFECTS: ReadonlyMap<string, KeyEffect> = new Map<string, KeyEffect>([
  ['up', lineUp],
  ['k', lineUp],
  ['down', lineDown],
  ['j', lineDown],
  ['pageup', scrollBy(({ page }) => -page)],
  ['pagedown', scrollBy(({ page }) => page)],
  ['home', toTop],
  ['g', toTop],
  ['end', toEnd],
  ['G', toEnd],
  ['f', ({ isFolded }) => ({ isFolded: !isFolded, offset: 0 })],
  ['space', toggleFrozen],
  ['p', toggleFrozen],
  ['ctrl-s', () => ({ isFrozen: true })],
  ['ctrl-q', () => ({ isFrozen: false })],
  ['?', toggleHelp],
  ['h', toggleHelp],
  ['escape', () => ({ isFrozen: false, showsHelp: false, offset: 0 })],
]);

/** The view settings after a key; the same object if the key has no meaning. */
export function pressKey(controls: ViewControls, key: string, range: ScrollRange): ViewControls {
  const effect = KEY_EFFECTS.get(key);
  if (effect === undefined) return controls;
  const next = { ...controls, ...effect(controls, range) };
  return { ...next, offset: Math.max(0, Math.min(next.offset, range.lastOffset)) };
}
