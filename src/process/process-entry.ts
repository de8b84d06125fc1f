/** One row of the machine's process table. */
export interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  /** The start time; together with the pid it is unique, since pids are used again. */
  readonly start: string;
  /** The program, in a form that changes when the process executes another one. */
  readonly program: string;
  readonly zombie: boolean;
  /** The value of its `RAYMOND_TURN`, empty if it has none, undefined if its environment is hidden from us. */
  readonly marker: string | undefined;
  readonly wrapper: boolean;
}
