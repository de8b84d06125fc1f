import type { GraphFormat } from '../app/workflows/draw-graph.ts';
import { END_STATUSES } from '../core/run/run.ts';
import type { ObservedStatus } from '../core/run/status.ts';
import type { Platform } from '../language/state-names.ts';
import type { LintLevel } from '../lint/rule.ts';
import { COST_GROUPS } from '../render/cost-tally.ts';

/** The words of `--platform`. */
export const PLATFORMS: readonly Platform[] = ['unix', 'windows'];

/** The words of `lint --level`, the worst first. */
export const LINT_LEVELS: readonly LintLevel[] = ['error', 'warning', 'info'];

/** The words of `lint --format`. */
export const LINT_FORMATS = ['text', 'github'] as const;

/** The words of `graph --format`. */
export const GRAPH_FORMATS: readonly GraphFormat[] = ['mermaid', 'svg', 'html'];

/** The words of `prune --status`, besides `any`. */
export const PRUNE_STATUSES: readonly ObservedStatus[] = [...END_STATUSES, 'crashed'];

/** The words that a flag takes, by command and flag. It loads no command, so that a shell can ask for them at each key. */
export const FLAG_CHOICES: Readonly<Record<string, readonly string[]>> = {
  'costs --by': COST_GROUPS,
  'prune --status': [...PRUNE_STATUSES, 'any'],
  'lint --level': LINT_LEVELS,
  'lint --format': LINT_FORMATS,
  'lint --platform': PLATFORMS,
  'graph --format': GRAPH_FORMATS,
  'graph --platform': PLATFORMS,
};
