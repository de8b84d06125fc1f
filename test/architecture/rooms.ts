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
    language: pure(),
    core: pure('language'),
    bash: { ...pure('language'), packages: ['unbash'] },
    graph: pure('language', 'bash'),
    lint: pure('language', 'bash', 'graph'),
    engine: pure('core'),
    process: withIo(['errors.ts']),
    yaml: { ...pure('language'), packages: ['yaml'] },
    scenario: withIo(['language', 'core', 'yaml', 'errors.ts'], 'zod'),
    workflow: withIo('language core graph yaml schema errors.ts git-repository.ts'.split(' '), 'fflate', 'yauzl'),
    config: withIo(['language', 'core', 'errors.ts'], 'smol-toml'),
    patterns: { ...pure('deadline.ts'), packages: ['re2js'] },
    schema: { ...pure('language', 'core', 'patterns', 'deadline.ts'), packages: ['ajv', 'ajv/dist/2020.js'] },
    drawing: withIo('language core graph lint render errors.ts deadline.ts package-files.ts'.split(' '), '@viz-js/viz'),
    disk: withIo(['language', 'core', 'errors.ts', 'git-repository.ts']),
    storage: withIo(['language', 'core', 'disk', 'process', 'errors.ts'], 'zod'),
    'storage/files': withIo(
      'language core disk process storage errors.ts git-repository.ts remove-below.ts'.split(' '),
      'zod',
    ),
    'storage/postgres': withIo(['language', 'core', 'process', 'storage', 'errors.ts'], 'pg', 'zod'),
    git: withIo(['core', 'process', 'errors.ts', 'git-repository.ts', 'remove-below.ts']),
    conversations: withIo(['language', 'core', 'process', 'json-file.ts'], 'zod'),
    turns: withIo(
      'language core process git conversations scenario patterns schema errors.ts git-repository.ts json-file.ts package-files.ts'.split(
        ' ',
      ),
      'zod',
    ),
    render: withIo(['language', 'core', 'errors.ts'], 'fast-string-width', 'fast-wrap-ansi'),
    'render/terminal': withIo(['language', 'core', 'render', 'errors.ts']),
    documents: { ...pure('language', 'core', 'storage', 'render', 'errors.ts'), packages: ['zod'] },
    wiring: withIo(
      `language core graph engine process conversations scenario git turns workflow disk storage storage/files render
 documents config errors.ts`.split(/\s+/),
    ),
    app: withIo(
      `language core bash graph lint process scenario git turns workflow disk storage storage/files render documents drawing
 config wiring errors.ts git-repository.ts remove-below.ts package-files.ts`.split(/\s+/),
    ),
    cluster: withIo(
      `language core engine disk storage storage/postgres process conversations turns workflow render wiring app
 errors.ts`.split(/\s+/),
      'pg',
      '@dbos-inc/dbos-sdk',
      'zod',
    ),
    testing: withIo(
      `language core bash graph lint engine yaml scenario patterns process turns workflow disk storage render documents drawing
 wiring app errors.ts`.split(/\s+/),
    ),
    server: withIo(
      'language core render documents storage wiring app errors.ts git-repository.ts package-files.ts'.split(' '),
      'hono',
      '@hono/node-server',
      'zod',
    ),
    mcp: withIo(
      'language core render documents wiring app errors.ts git-repository.ts'.split(' '),
      '@modelcontextprotocol/server',
      'zod',
    ),
    cli: withIo(
      `language core graph lint render render/terminal documents config storage storage/postgres wiring app cluster testing
 server mcp errors.ts package-files.ts`.split(/\s+/),
      'commander',
      '@modelcontextprotocol/server',
    ),
    'index.ts': pure('language', 'core', 'wiring', 'app', 'errors.ts'),
    'errors.ts': pure(),
    'git-repository.ts': withIo([]),
    'json-file.ts': withIo(['language'], 'zod'),
    'remove-below.ts': withIo(['errors.ts', 'git-repository.ts']),
    'deadline.ts': withIo(['package-files.ts']),
    'thread.ts': withIo(['patterns', 'schema', 'drawing', 'deadline.ts']),
    'proxy.ts': withIo(['turns']),
    'package-files.ts': withIo([]),
  }),
);

/** The room of a file: the first part of its path below src/, or the first two for a room within a room. */
export function roomOf(path: string): string {
  const [, first = path, second = ''] = path.split('/');
  return ROOMS.has(`${first}/${second}`) ? `${first}/${second}` : first;
}

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

const PURE_ROOMS = ['language', 'core'];

/** Compares the table of the pure rooms in ARCHITECTURE.md with these paths; a folder counts as one file. */
export function comparePureTable(paths: readonly string[], architecture: string): readonly string[] {
  const documented = readTable(architecture, 'file').flatMap(([names = []]) => names);
  const files = new Set(
    paths
      .filter((path) => PURE_ROOMS.includes(roomOf(path)))
      .map((path) => path.replace(/^src\//, '').replace(/^([^/]+\/[^/]+\/).*/, '$1')),
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
