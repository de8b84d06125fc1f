/** One process of this machine, as far as we need to know it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  /** With the pid it names one process for good, since numbers are used again. */
  readonly start: string;
  /** Differs once the process has executed another program. */
  readonly program: string;
  readonly zombie: boolean;
  /** The value of its `RAYMOND_TURN`, empty if it has none, undefined if its environment is hidden from us. */
  readonly marker: string | undefined;
  readonly wrapper: boolean;
}
