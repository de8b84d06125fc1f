import { readdirSync, readFileSync } from 'node:fs';

/** A living process of a turn. */
export interface TurnProcess {
  readonly pid: number;
  readonly group: number;
  /** `<run>/<agent>/<number of the turn>`. */
  readonly turn: string;
  /** Whether it is the shell that leads the turn's group. */
  readonly leads: boolean;
  /** Whether it is the shell that runs a script's state. */
  readonly isScript: boolean;
}

/** Finds all living processes with the marker of this run. */
export function processesOf(runId: string): readonly TurnProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const environment = read(`/proc/${name}/environ`)?.split('\0') ?? [];
    const turn = environment.find((entry) => entry.startsWith(`RAYMOND_TURN=${runId}/`))?.slice('RAYMOND_TURN='.length);
    const stat = turn === undefined ? undefined : read(`/proc/${name}/stat`);
    if (turn === undefined || stat === undefined) return [];
    const [state = 'Z', , group = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const pid = Number(name);
    const isScript = /^\/bin\/bash\0[^\0]*\.sh\0$/.test(read(`/proc/${name}/cmdline`) ?? '');
    return 'ZX'.includes(state) ? [] : [{ pid, group: Number(group), turn, leads: Number(group) === pid, isScript }];
  });
}

/** The turns with a living process: those at work, and those that opened a conversation which is idle now. */
export function turnsOf(processes: readonly TurnProcess[]): {
  readonly atWork: readonly string[];
  readonly idle: readonly string[];
} {
  const all = [...new Set(processes.map(({ turn }) => turn))];
  const agentOf = (turn: string): string => turn.slice(0, turn.lastIndexOf('/'));
  const numberOf = (turn: string): number => Number(turn.slice(turn.lastIndexOf('/') + 1));
  // Only the latest turn of an agent can be under way.
  const isIdle = (turn: string): boolean =>
    all.some((other) => agentOf(other) === agentOf(turn) && numberOf(other) > numberOf(turn));
  return { atWork: all.filter((turn) => !isIdle(turn)), idle: all.filter(isIdle) };
}

/** Sends SIGKILL to the process groups of these turns, and returns the turns that were killed. */
export function killGroups(processes: readonly TurnProcess[]): readonly string[] {
  const leaders = processes.filter(({ leads, group }) => leads && group > 1);
  return leaders.flatMap(({ group, turn }) => (kill(-group) ? [turn] : []));
}

/** Sends SIGKILL; false if the process does not exist any more. */
export function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
