/** The modules that a room's files may import besides each other. */
export interface Room {
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
  /** Permits `node:*`, that is, I/O. */
  readonly node: boolean;
}

const pure = (...rooms: string[]): Room => ({ rooms, packages: [], node: false });
const withIo = (rooms: readonly string[], ...packages: string[]): Room => ({ rooms, packages, node: true });

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
    turns: withIo(['core', 'process', 'scenario', 'errors.ts', 'json-schema.ts'], 'zod'),
    workflow: withIo(['core', 'graph', 'yaml', 'errors.ts', 'json-schema.ts'], 'fflate', 'yauzl'),
    store: withIo(['core', 'process', 'errors.ts'], 'zod'),
    events: withIo(['core', 'errors.ts'], 'fast-string-width', 'fast-wrap-ansi'),
    terminal: withIo(['core', 'events', 'errors.ts']),
    config: withIo(['core', 'errors.ts'], 'smol-toml'),
    drawing: withIo(['core', 'graph', 'lint', 'events', 'package-files.ts'], '@viz-js/viz'),
    'errors.ts': pure(),
    'json-schema.ts': { ...pure('core'), packages: ['ajv', 'ajv/dist/2020.js'] },
    'package-files.ts': withIo([]),
    runtime: withIo(
      `core bash graph lint engine process scenario turns workflow store events drawing config errors.ts
      package-files.ts`.split(/\s+/),
    ),
    fleet: withIo(
      'core engine store process turns workflow events runtime errors.ts'.split(' '),
      'pg',
      '@dbos-inc/dbos-sdk',
      'zod',
    ),
    testing: withIo(
      'core bash graph lint engine yaml scenario turns workflow store events drawing runtime errors.ts'.split(' '),
    ),
    server: withIo(['core', 'events', 'runtime', 'errors.ts', 'package-files.ts'], 'hono', '@hono/node-server', 'zod'),
    mcp: withIo(['core', 'events', 'runtime', 'errors.ts'], '@modelcontextprotocol/server', 'zod'),
    cli: withIo(
      'core graph lint events terminal config runtime fleet testing server mcp errors.ts package-files.ts'.split(' '),
      'commander',
      '@modelcontextprotocol/server',
    ),
    'index.ts': pure('core', 'runtime', 'errors.ts'),
  }),
);

/** The room of a file: the first part of its path below src/. */
export const roomOf = (path: string): string => path.split('/')[1] ?? path;

/** Compares the table of rooms of ARCHITECTURE.md with these rooms: each row, and what it says that the room may import. */
export function compareRoomTable(rooms: ReadonlyMap<string, Room>, architecture: string): readonly string[] {
  const rows = new Map(
    readTable(architecture, 'room').map(([names = [], , imports = []]) => [names[0] ?? '', imports]),
  );
  return [
    ...[...rooms.keys()].filter((name) => !rows.has(name)).map((name) => `${name} has no row`),
    ...[...rows].flatMap(([name, documented]) => {
      const room = rooms.get(name);
      if (room === undefined) return [`${name} is no room`];
      const allowed = [...room.rooms.map((other) => other.replace(/\.ts$/, '')), ...room.packages];
      if (room.node) allowed.push('node:*');
      return [
        ...allowed.filter((each) => !documented.includes(each)).map((each) => `${name} may import ${each}: not said`),
        ...documented.filter((each) => !allowed.includes(each)).map((each) => `${name} may not import ${each}: said`),
      ];
    }),
  ];
}

/** Compares the table of files of core in ARCHITECTURE.md with these paths; a folder counts as one file. */
export function compareCoreTable(paths: readonly string[], architecture: string): readonly string[] {
  const documented = readTable(architecture, 'file').flatMap(([names = []]) => names);
  const files = new Set(
    paths
      .filter((path) => roomOf(path) === 'core')
      .map((path) => path.split('/').slice(2).join('/').replace(/\/.*/, '/')),
  );
  return [
    ...[...files].filter((file) => !documented.includes(file)).map((file) => `${file} is not listed`),
    ...documented.filter((file) => !files.has(file)).map((file) => `${file} does not exist`),
  ];
}

/** The code spans in each cell of the table whose first heading is this one, row by row. */
function readTable(markdown: string, heading: string): readonly (readonly (readonly string[])[])[] {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  if (start < 0) return [];
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end < 0 ? undefined : end).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)),
  );
}
