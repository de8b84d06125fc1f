import type { Options } from '../../core/options/options.ts';
import type { RunEnvironment } from '../../wiring/run-handle.ts';

/** How to run again from a point of a run. */
export interface RerunRequest extends RunEnvironment {
  /** A turn (`main/7`), a state (`REVIEW`, `REVIEW#2`) or the id of a question. */
  readonly from: string;
  /** By file of the workflow, the path of the one that takes its place. */
  readonly with?: Readonly<Record<string, string>>;
  /** The value of `{{result}}` in the first state. */
  readonly input?: string;
  /** A message to the agent, which stands before its first prompt. */
  readonly say?: string;
  /** True to let only this agent and those below it continue. */
  readonly only?: boolean;
  /** The files of then, in a folder of the new run, or those of now where the original worked. By default those of then. */
  readonly files?: 'then' | 'now';
  /** Ignored files and folders to link into the folder of the new run, such as `node_modules`. */
  readonly links?: readonly string[];
  /** Options that differ from those of the original. */
  readonly options?: Partial<Options>;
  readonly runId?: string;
  /** A person has accepted the programs and rights that the run has stored. */
  readonly acceptsStored?: boolean;
  /** Hears what begins anew before it does. */
  readonly announce?: (sentence: string) => void;
}
