import { isReported, type RuleContext } from './rule.ts';

/** Mistakes by which a way on is missing that only its author knows. */
const PATH_BREAKING_RULES = ['missing-attribute', 'endless-loop', 'endless-recursion', 'ends-only-by-limit'];

/** How many ways lead nobody knows where, because of mistakes that are told already. */
export function countBrokenPaths(context: RuleContext): number {
  const reached = context.analyses.filter(({ file }) => context.isReached(file));
  const names = reached.flatMap(({ file }) =>
    (context.unresolvedNames.get(file) ?? []).flatMap(({ name, found }) =>
      found.kind === 'unknown' && context.names.suggest(name) === null ? name : [],
    ),
  );
  const others = reached.filter(({ file }) => isReported(context, file, ...PATH_BREAKING_RULES));
  return new Set(names).size + others.length;
}
