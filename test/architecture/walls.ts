import { posix } from 'node:path';
import { type Import, type Module, parseModule, type SourceFile } from './module.ts';

/** What the files of a room may import besides each other. */
interface Room {
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
  /** Whether it may touch the world: `node:*`. */
  readonly node: boolean;
}

const pure = (...rooms: string[]): Room => ({ rooms, packages: [], node: false });
const shell = (rooms: readonly string[], ...packages: string[]): Room => ({ rooms, packages, node: true });
const BELOW =
  'core shell graph lint drawing engine process yaml scenario turns workflow store events config errors.ts'.split(' ');
const FACING_THE_USER = ['runtime', 'events', 'terminal', 'lint', 'graph', 'config', 'core', 'errors.ts'];

/** The rooms of src/. A new room, or a new package in one, is a decision: it is made here. */
const ROOMS: ReadonlyMap<string, Room> = new Map(
  Object.entries({
    core: pure(),
    shell: pure('core'),
    graph: pure('core', 'shell'),
    lint: pure('core', 'shell', 'graph'),
    engine: pure('core'),
    process: shell(['errors.ts']),
    yaml: shell(['core'], 'yaml'),
    scenario: shell(['core', 'config', 'yaml', 'errors.ts'], 'zod'),
    turns: shell(['core', 'process', 'scenario', 'errors.ts'], 'zod'),
    workflow: shell(['core', 'graph', 'yaml', 'errors.ts'], 'yauzl'),
    store: shell(['core', 'errors.ts'], 'zod'),
    events: shell(['core', 'errors.ts']),
    terminal: shell(['core', 'events', 'errors.ts'], 'string-width', 'wrap-ansi'),
    config: shell(['core', 'errors.ts'], 'smol-toml'),
    drawing: shell(['core', 'graph', 'lint', 'events', 'terminal', 'package-files.ts'], '@viz-js/viz'),
    'errors.ts': shell([]),
    'package-files.ts': shell([]),
    runtime: shell([...BELOW, 'package-files.ts']),
    testing: shell([...BELOW, 'runtime']),
    cli: shell([...FACING_THE_USER, 'testing', 'package-files.ts'], 'commander'),
    server: shell(FACING_THE_USER),
    'index.ts': shell(FACING_THE_USER),
  }),
);

const MOST_LINES = 300;
const CODE = /\.[cm]?[jt]sx?$/;

/** Everything that is wrong with the shape of a source tree, as sentences; empty when the walls stand. */
export function findFaults(files: readonly SourceFile[]): readonly string[] {
  const homeless = files.filter(({ path }) => !ROOMS.has(roomOf(path)));
  const modules = parseAll(files);
  const paths = new Set(modules.map(({ path }) => path));
  return [
    ...homeless.map(({ path }) => `${path} belongs to no room: ${roomOf(path)} is not in the table`),
    ...modules.flatMap((module) => faultsOf(module, paths)),
    ...findRings(modules, paths).map((ring) => `import ring: ${ring.join(' → ')}`),
  ];
}

/** The modules of a tree; other files, such as a web page, have no imports to check. */
export const parseAll = (files: readonly SourceFile[]): readonly Module[] =>
  files.filter(({ path }) => CODE.test(path)).map(parseModule);

function faultsOf(module: Module, paths: ReadonlySet<string>): readonly string[] {
  const { path, lines, broken } = module;
  if (broken !== undefined) return [`${path} cannot be parsed: ${broken}`];
  const faults = module.imports.flatMap((one) => {
    const complaint = complaintAbout(one, path, paths);
    return complaint === undefined ? [] : [`${path}:${one.line} ${complaint}`];
  });
  if (lines > MOST_LINES) faults.push(`${path} has ${lines} lines, more than ${MOST_LINES}: it holds two ideas`);
  if (roomOf(path) !== 'core') return faults;
  return [...faults, ...module.impurities.map(({ what, line }) => `${path}:${line} uses ${what}; core is pure`)];
}

function complaintAbout({ specifier }: Import, path: string, paths: ReadonlySet<string>): string | undefined {
  const name = roomOf(path);
  const room = ROOMS.get(name);
  if (specifier === undefined) return 'imports a path made at run time, which cannot be checked';
  if (specifier.startsWith('.')) {
    const target = resolve(path, specifier, paths);
    if (target === undefined) return `imports ${specifier}, which is no module of src`;
    const other = roomOf(target);
    return other === name || room?.rooms.includes(other)
      ? undefined
      : `imports ${target}; ${name} may not use ${other}`;
  }
  const allowed = specifier.startsWith('node:') ? room?.node : room?.packages.includes(packageOf(specifier));
  return allowed ? undefined : `imports ${specifier}; ${name} may not use it`;
}

/** The first part under src/: a folder, or a file that is a room by itself. */
const roomOf = (path: string): string => path.split('/')[1] ?? path;

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The file that a relative import means; TypeScript also takes `./x.js` for `./x.ts`. */
function resolve(from: string, specifier: string, paths: ReadonlySet<string>): string | undefined {
  const target = posix.join(posix.dirname(from), specifier);
  return [target, target.replace(/\.js$/, '.ts')].find((path) => paths.has(path));
}

/** One ring for each import that leads back to a file on the way to it. */
function findRings(modules: readonly Module[], paths: ReadonlySet<string>): readonly (readonly string[])[] {
  const next = new Map(modules.map(({ path, imports }) => [path, targetsOf(path, imports, paths)]));
  const rings: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    const seenAt = way.indexOf(path);
    if (seenAt >= 0) rings.push([...way.slice(seenAt), path]);
    if (seenAt >= 0 || done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  return rings;
}

function targetsOf(path: string, imports: readonly Import[], paths: ReadonlySet<string>): ReadonlySet<string> {
  const targets = imports.map(({ specifier }) => (specifier ? resolve(path, specifier, paths) : undefined));
  return new Set(targets.filter((target) => target !== undefined));
}
