import type { StateAnalysis } from '../graph/state-analysis.ts';
import { GUARD_OUTCOMES, PROMPT_OUTCOMES } from '../language/guards.ts';
import type { RuleContext, RuleFinding } from './rule.ts';

/** Finds guards of a state that can never do anything. */
export function findUselessGuards(
  { file, kind, source }: StateAnalysis,
  { workflow }: RuleContext,
): readonly RuleFinding[] {
  const { maxVisits, guards } = source.state.rules;
  const lacksVisits = maxVisits === null ? 'without `max_visits`' : undefined;
  const lacksCount = guards?.stuck == null ? 'without `stuck_after`' : undefined;
  const isOutsideGit = workflow.isInRepository === false && guards?.stuck?.files === null;
  const why: Readonly<Record<string, string | undefined>> = {
    'on.max_visits': lacksVisits,
    'on.stuck': lacksCount,
    max_visits_per: lacksVisits,
    stuck_files: lacksCount,
    stuck_after: isOutsideGit ? 'outside of a git repository without `stuck_files`' : undefined,
    ...Object.fromEntries(
      GUARD_OUTCOMES.filter((outcome) => kind === 'script' && PROMPT_OUTCOMES.has(outcome)).map((outcome) => {
        return [`on.${outcome}`, 'in a script'];
      }),
    ),
  };
  return Object.entries(why).flatMap(([key, reason]): readonly RuleFinding[] => {
    const at = source.keys[key];
    if (at === undefined || reason === undefined) return [];
    return [{ file, at, message: `\`${key}\` has no effect ${reason}`, hint: HINTS[key] ?? REMOVE }];
  });
}

const REMOVE = 'Remove it.';

const HINTS: Readonly<Record<string, string>> = {
  'on.max_visits': 'Say with `max_visits` how often an agent may enter this state.',
  'on.stuck': 'Say with `stuck_after` how many visits in a row may end alike.',
  max_visits_per: 'Say with `max_visits` how often an agent may enter this state.',
  stuck_files: 'Say with `stuck_after` how many visits in a row may end alike.',
  stuck_after: 'Name the files that show progress: `stuck_files: [src/**]`.',
};
