import { isTold, type View } from './rule.ts';

/** Mistakes by which a way on is missing that only its author knows. */
const LOST = ['missing-attribute', 'endless-loop', 'endless-recursion', 'ends-only-by-limit'];

/** How many ways lead nobody knows where, because of mistakes that are told already. */
export function countLostWays(view: View): number {
  const reached = view.pages.filter(({ file }) => view.isReached(file));
  const names = reached.flatMap(({ file }) =>
    (view.badNames.get(file) ?? []).flatMap(({ name, found }) =>
      found.kind === 'unknown' && view.names.meant(name) === null ? name : [],
    ),
  );
  const others = reached.filter(({ file }) => isTold(view, file, ...LOST));
  return new Set(names).size + others.length;
}
