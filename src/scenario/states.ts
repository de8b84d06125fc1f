import { isPrompt, isStateFile, nearestState, resolveState, runsOn, type Scope } from '../core/names.ts';
import { variableProblem } from '../core/variables.ts';
import { type Document, type Fault, listed, mapping } from './document.ts';

export const OF_SCRIPTS = ['exit', 'stderr'];
export const OF_PROMPTS = ['uses', 'deny', 'cost', 'fail', 'resets_in'];

type Path = readonly (string | number)[];

/** The file of the state that a name means; undefined if it means none, or one of another platform. */
export function stateIn(scope: Scope, name: string): string | undefined {
  const found = resolveState(name, scope);
  return found.kind === 'found' ? found.file : undefined;
}

/** `START` is a state, whoever enters it; `main_worker1/START` is the same, entered by that agent. */
export function visitorAndState(key: string): { readonly agent: string | null; readonly name: string } {
  const [, agent = null, name = key] = /^([^/\\\0]+)\/([\s\S]+)$/.exec(key) ?? [];
  return { agent, name };
}

/** The states of the workflow that each scenario of a file is for; null for a scenario that is not to be played. */
export type Scopes = readonly (Scope | null)[];

/** Looks for what only its workflows can tell about a scenario file: each name must be that of a state. */
export function faultsOfNames(document: Document, scopes: Scopes): readonly Fault[] {
  const faultsAt = (path: Path, block: unknown, scope: Scope | null): readonly Fault[] => {
    if (scope === null) return [];
    const reader = new Reader(document, scope);
    reader.readBlock(path, block);
    return reader.faults;
  };
  const scenarios = listed(mapping(document.value).scenarios);
  const [first = [], ...others] = [...new Set(scopes)].map((scope) => faultsAt([], document.value, scope));
  // What stands beside scenarios for several workflows is meant for any of them.
  const shared = first.filter((fault) => others.every((faults) => faults.some((other) => isAt(fault, other))));
  const own = scenarios.flatMap((block, at) => faultsAt(['scenarios', at], block, scopes[at] ?? null));
  return [...shared, ...own];
}

const isAt = (a: Fault, b: Fault): boolean => a.line === b.line && a.column === b.column;

class Reader {
  readonly faults: Fault[] = [];
  private readonly document: Document;
  private readonly scope: Scope;

  constructor(document: Document, scope: Scope) {
    this.document = document;
    this.scope = scope;
  }

  /** One scenario, or what several have in common. */
  readBlock(path: Path, block: unknown): void {
    const { answers, vars, recorded_scripts: recorded, expect } = mapping(block);
    this.readNames([...path, 'answers'], answers, (at, value, file) => this.misplaced(at, value, file));
    for (const name of Object.keys(mapping(vars))) {
      const problem = variableProblem(name, this.scope.platform);
      if (problem !== undefined) this.wrong([...path, 'vars', name], problem);
    }
    this.readNames([...path, 'recorded_scripts'], recorded, (at, _, file) => {
      if (isPrompt(file)) this.wrong(at, `\`${file}\` is no script: it does not belong here`);
    });
    const { path: way, prompts, cost, turns, reminders, warnings } = mapping(expect);
    const within = (key: string): Path => [...path, 'expect', key];
    if (Array.isArray(way)) this.readWay(within('path'), way);
    else for (const [agent, each] of Object.entries(mapping(way))) this.readWay([...within('path'), agent], each);
    const noScript = (at: Path, _: unknown, file: string): void => {
      if (!isPrompt(file)) this.wrong(at, `a script is sent no prompt: \`${file}\` does not belong here`);
    };
    this.readNames(within('prompts'), prompts, noScript, visitorAndState);
    for (const [key, value] of Object.entries({ cost, turns, reminders, warnings })) this.readNames(within(key), value);
  }

  /** A mapping by state. */
  private readNames(
    path: Path,
    given: unknown,
    look: (at: Path, value: unknown, file: string) => void = () => {},
    read: typeof visitorAndState = (key) => ({ agent: null, name: key }),
  ): void {
    const seen = new Set<string>();
    for (const [key, value] of Object.entries(mapping(given))) {
      const at = [...path, key];
      const { agent, name } = read(key);
      const file = this.meant(name, (message) => this.wrong(at, message + this.perhapsRenamed(path, name)));
      if (file === undefined) continue;
      const exact = agent === null ? file : `${agent}/${file}`;
      if (seen.has(exact)) this.wrong(at, `\`${key}\` is ${exact} again: keep one of them`);
      seen.add(exact);
      look(at, value, file);
    }
  }

  /** A state that has no answer may be the one that has another name by now, as long as there is only one like it. */
  private perhapsRenamed(path: Path, name: string): string {
    if (path.at(-1) !== 'answers' || nearestState(name, this.scope.files.filter(isStateFile)) !== undefined) return '';
    const whole = mapping(this.document.value);
    const answered = [whole, ...listed(whole.scenarios)].flatMap((block) => {
      return Object.keys(mapping(mapping(block).answers)).map((key) => stateIn(this.scope, key));
    });
    const isLike = (file: string): boolean => !isStateFile(name) || isPrompt(file) === isPrompt(name);
    const { files, platform } = this.scope;
    const [only, second] = files.filter((file) => runsOn(file, platform) && isLike(file) && !answered.includes(file));
    return only === undefined || second !== undefined ? '' : `; ${only} has no answer here: has it been renamed?`;
  }

  private readWay(path: Path, states: unknown): void {
    for (const [index, name] of listed(states).entries()) {
      if (typeof name !== 'string') continue;
      this.meant(name, (message) => this.faults.push({ ...this.document.placeOf([...path, index]), message }));
    }
  }

  private meant(name: string, complain: (message: string) => void): string | undefined {
    const found = resolveState(name, this.scope);
    if (found.kind === 'found') return found.file;
    if (found.kind !== 'foreign') complain(found.message);
    return undefined;
  }

  /** Keys that mean nothing in a state of this kind, in answers and lists of them. */
  private misplaced(path: Path, value: unknown, file: string): void {
    for (const [at, each] of listed(value).entries()) this.misplaced([...path, at], each, file);
    const given = mapping(value);
    const strangers = (isPrompt(file) ? OF_SCRIPTS : OF_PROMPTS).filter((key) => Object.hasOwn(given, key));
    const kind = isPrompt(file) ? 'prompt' : 'script';
    for (const key of strangers) this.wrong([...path, key], `\`${key}\` means nothing here: ${file} is a ${kind}`);
    for (const key of ['turns', 'visits']) {
      for (const [at, each] of listed(given[key]).entries()) this.misplaced([...path, key, at], each, file);
    }
  }

  private wrong(path: Path, message: string): void {
    this.faults.push({ ...this.document.placeOfKey(path), message });
  }
}
