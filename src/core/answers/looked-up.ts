import type { NamedFiles, NamedFolders } from '../../language/named-folders.ts';
import type { NamedWorkflows } from '../../language/named-workflows.ts';
import type { PatternMatch } from '../../language/state.ts';
import type { Scope } from '../../language/state-names.ts';
import type { CheckedResults } from './checked-results.ts';

/** Everything that the world looks up for an answer, as it is now. A field is left out if the answer has nothing of the kind. */
export interface LookedUp {
  /** The files of the workflow that the agent is in. */
  readonly scope: Scope;
  readonly folders: NamedFolders;
  readonly files?: NamedFiles;
  readonly workflows?: NamedWorkflows;
  /** The verdicts on its results, if the state has a schema for them. */
  readonly results?: CheckedResults;
  /** By evaluator of the state, whether its pattern matches the text. */
  readonly matches?: readonly PatternMatch[];
  /** For the verdict of an evaluator: the names in the answer that it judges, looked up again. */
  readonly evaluated?: LookedUpNames;
}

/** The names in an answer, looked up, and the verdicts on its results. */
export type LookedUpNames = Pick<LookedUp, 'folders' | 'files' | 'workflows' | 'results'>;

/** An answer with everything that is needed to interpret it. */
export interface TurnAnswer extends LookedUp {
  readonly at: number;
  readonly text: string;
  /** Tools that Claude Code was not allowed to use. */
  readonly denials: readonly string[];
  /** A digest of the answer's tags and of what shows progress, if the state has `stuck_after` and it could be computed. */
  readonly fingerprint?: string;
}
