import { stem } from '../../language/state-names.ts';

/** How to make the id of a worker. */
export interface WorkerIdOptions {
  readonly isTaken: (id: string) => boolean;
  /**
   * True if the id must tell where its parts begin: then it cannot be that of an agent that was archived, which
   * `isTaken` does not know.
   */
  readonly isUnambiguous: boolean;
}

/**
 * The id of a parent's next worker, `<parent>_<state><count>`, and the parent's fork count after it. No id is ever given
 * twice.
 */
export function nextWorkerId(
  parent: string,
  forks: number,
  state: string,
  { isTaken, isUnambiguous }: WorkerIdOptions,
): { id: string; forks: number } {
  const abbreviation = isUnambiguous ? separate(abbreviate(state)) : abbreviate(state);
  for (let count = forks + 1; ; count++) {
    const id = `${parent}_${abbreviation}${count}`;
    if (!isTaken(id)) return { id, forks: count };
  }
}

/** The first letters of a state's name, so that the id is an identifier. */
const abbreviate = (state: string): string =>
  [...stem(state).toLowerCase()]
    .slice(0, 6)
    .join('')
    .replace(/[^a-z0-9_]/gu, '_');

/**
 * An abbreviation that does not look like a parent with a worker (`a1_b`) and does not run into the count (`step1`), so
 * that the id soon can be forgotten, too.
 */
const separate = (abbreviation: string): string =>
  abbreviation.replace(/(?<=[0-9])_/g, 'x').replace(/(?<=[0-9])$/, 'x');

/**
 * True if an id can be forgotten because no unambiguous one will ever equal it. `parentForks` is the parent's fork count,
 * null if it forks no more.
 *
 * All ids of workers end in a digit. If the part after the parent's id has no `_` after a digit, then every other
 * parent that could give the same id would need an abbreviation that has one, which is not unambiguous. The same parent
 * gives it again only with all final digits as its count, which is past.
 */
export function isWorkerIdSpent(id: string, parent: string, parentForks: number | null): boolean {
  if (!id.startsWith(`${parent}_`)) return false;
  const ownPart = id.slice(parent.length + 1);
  const [digits] = /[0-9]*$/.exec(ownPart) ?? [''];
  return !/[0-9]_/.test(ownPart) && (parentForks === null || Number(digits) <= parentForks);
}

/** Makes a run id, `<workflow>-<YYYYMMDD-HHMMSS>-<hex>`, with the local time. */
export function newRunId(workflow: string, atMs: number, utcOffsetMinutes: number, hex: string): string {
  const name = workflow
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 100);
  const local = new Date(atMs + utcOffsetMinutes * 60_000).toISOString();
  const stamp = `${local.slice(0, 10).replaceAll('-', '')}-${local.slice(11, 19).replaceAll(':', '')}`;
  return `${name === '' ? 'run' : name}-${stamp}-${hex}`;
}

/** Explains why this cannot be a run's id; undefined if it can. */
export function runIdProblem(id: string): string | undefined {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(id)) return undefined;
  return `\`${id}\` cannot be a run's id: use 1 to 128 of the letters A-Z and a-z, digits, \`_\` and \`-\``;
}
