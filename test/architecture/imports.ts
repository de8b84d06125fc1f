import { posix } from 'node:path';
import { type Import, type Module, parseModule, type SourceFile } from './module.ts';
import { ROOMS, roomOf } from './rooms.ts';

const MAX_LINES = 400;
const CODE = /\.[cm]?[jt]sx?$/;

/** Checks files for forbidden imports, import cycles, impure code and length; returns one sentence per violation. */
export function findViolations(files: readonly SourceFile[]): readonly string[] {
  const unassigned = files.filter(({ path }) => !ROOMS.has(roomOf(path)));
  const modules = parseAll(files);
  const paths = new Set(modules.map(({ path }) => path));
  return [
    ...unassigned.map(({ path }) => `${path} belongs to no room: ${roomOf(path)} is not in the table`),
    ...modules.flatMap((module) => violationsOf(module, paths)),
    ...findCycles(modules, paths).map((cycle) => `import cycle: ${cycle.join(' → ')}`),
  ];
}

/** Parses the code files; others, such as a web page, have no imports to check. */
export const parseAll = (files: readonly SourceFile[]): readonly Module[] =>
  files.filter(({ path }) => CODE.test(path)).map(parseModule);

function violationsOf(module: Module, paths: ReadonlySet<string>): readonly string[] {
  const { path, lines, syntaxError } = module;
  if (syntaxError !== undefined) return [`${path} cannot be parsed: ${syntaxError}`];
  const violations = module.imports.flatMap((one) => {
    const violation = importViolation(one, path, paths);
    return violation === undefined ? [] : [`${path}:${one.line} ${violation}`];
  });
  if (lines > MAX_LINES) violations.push(`${path} has ${lines} lines, more than ${MAX_LINES}: split it by idea`);
  const room = roomOf(path);
  if (room !== 'core' && room !== 'language') return violations;
  const impure = module.impurities.map(({ expression, line }) => `${path}:${line} uses ${expression}; ${room} is pure`);
  return [...violations, ...impure];
}

function importViolation({ specifier }: Import, path: string, paths: ReadonlySet<string>): string | undefined {
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

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The file that a relative import refers to; TypeScript also takes `./x.js` for `./x.ts`. */
function resolve(from: string, specifier: string, paths: ReadonlySet<string>): string | undefined {
  const target = posix.join(posix.dirname(from), specifier);
  return [target, target.replace(/\.js$/, '.ts')].find((path) => paths.has(path));
}

/** Finds a cycle for each import that leads back to a file on the path to it. */
function findCycles(modules: readonly Module[], paths: ReadonlySet<string>): readonly (readonly string[])[] {
  const next = new Map(modules.map(({ path, imports }) => [path, targetsOf(path, imports, paths)]));
  const cycles: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) cycles.push([...trail.slice(seenAt), path]);
    if (seenAt >= 0 || done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  return cycles;
}

function targetsOf(path: string, imports: readonly Import[], paths: ReadonlySet<string>): ReadonlySet<string> {
  const targets = imports.map(({ specifier }) => (specifier ? resolve(path, specifier, paths) : undefined));
  return new Set(targets.filter((target) => target !== undefined));
}
