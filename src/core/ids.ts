import { stem } from './state-names.ts';

/** The id of a parent's next worker, and the parent's fork count after it. No id is ever given twice. */
export function nextWorkerId(
  parent: string,
  forks: number,
  state: string,
  isTaken: (id: string) => boolean,
): { id: string; forks: number } {
  const abbreviation = [...stem(state).toLowerCase()]
    .slice(0, 6)
    .join('')
    .replace(/[^\p{L}\p{N}_-]/gu, '-');
  for (let count = forks + 1; ; count++) {
    const id = `${parent}_${abbreviation}${count}`;
    if (!isTaken(id)) return { id, forks: count };
  }
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
