/** The modules that a room's files may import besides each other. */
export interface Room {
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
  /** Permits `node:*`, that is, I/O. */
  readonly node: boolean;
}

const pure = (...rooms: string[]): Room => ({ rooms, packages: [], node: false });
const withIo = (rooms: readonly string[], ...packages: string[]): Room => ({ rooms, packages, node: true });
const BELOW_RUNTIME =
  'core bash graph lint drawing engine process yaml scenario turns workflow store events config errors.ts'.split(' ');
const FOR_INTERFACES = ['runtime', 'events', 'terminal', 'lint', 'graph', 'config', 'core', 'errors.ts'];

/** The rooms of src/: its folders and top-level files. A new room, or a new package in one, is a decision made here. */
export const ROOMS: ReadonlyMap<string, Room> = new Map(
  Object.entries({
    core: pure(),
    bash: { ...pure('core'), packages: ['unbash'] },
    graph: pure('core', 'bash'),
    lint: pure('core', 'bash', 'graph'),
    engine: pure('core'),
    process: withIo(['errors.ts']),
    yaml: { ...pure('core'), packages: ['yaml'] },
    scenario: withIo(['core', 'yaml', 'errors.ts'], 'zod'),
    turns: withIo(['core', 'process', 'scenario', 'errors.ts'], 'zod'),
    workflow: withIo(['core', 'graph', 'yaml', 'errors.ts'], 'yauzl'),
    store: withIo(['core', 'process', 'errors.ts'], 'zod'),
    events: withIo(['core', 'errors.ts'], 'string-width', 'wrap-ansi'),
    terminal: withIo(['core', 'events', 'errors.ts']),
    config: withIo(['core', 'errors.ts'], 'smol-toml'),
    drawing: withIo(['core', 'graph', 'lint', 'events', 'package-files.ts'], '@viz-js/viz'),
    'errors.ts': pure(),
    'package-files.ts': withIo([]),
    runtime: withIo([...BELOW_RUNTIME, 'package-files.ts']),
    testing: withIo([...BELOW_RUNTIME, 'runtime']),
    cli: withIo([...FOR_INTERFACES, 'testing', 'package-files.ts'], 'commander'),
    server: withIo(FOR_INTERFACES),
    'index.ts': pure('runtime', 'core', 'errors.ts'),
  }),
);

/** The room of a file: the first part of its path below src/. */
export const roomOf = (path: string): string => path.split('/')[1] ?? path;

/** Reports the rooms that hold files but have no row in the table of rooms of ARCHITECTURE.md. */
export function findUndocumentedRooms(paths: readonly string[], architecture: string): readonly string[] {
  const documented = new Set(roomTableNames(architecture));
  const rooms = new Set(paths.map(roomOf));
  return [...rooms]
    .filter((room) => !documented.has(room))
    .map((room) => `${room} has no row in the table of rooms of ARCHITECTURE.md`);
}

/** The names in the first column of the table whose first heading is "room": one or more code spans per row. */
function roomTableNames(markdown: string): readonly string[] {
  const lines = markdown.split('\n');
  const heading = lines.findIndex((line) => /^\|\s*room\s*\|/i.test(line));
  if (heading < 0) return [];
  const afterTable = lines.findIndex((line, index) => index > heading && !line.startsWith('|'));
  return lines.slice(heading + 2, afterTable < 0 ? undefined : afterTable).flatMap((row) => {
    const firstCell = row.split('|')[1] ?? '';
    return [...firstCell.matchAll(/`([^`/]+)\/?`/g)].map(([, name]) => name ?? '');
  });
}
