import { isPrompt, resolveState, type Scope } from '../core/names.ts';
import { variableProblem } from '../core/variables.ts';
import type { Document, Fault } from './document.ts';

export const OF_SCRIPTS = ['exit', 'stderr'];
export const OF_PROMPTS = ['uses', 'deny', 'cost', 'fail', 'resets_in'];

type Path = readonly (string | number)[];

/** The states that a file's names mean, and what is wrong with them: each must be one of the workflow. */
export interface Meaning {
  /** The file of the state; undefined if it is one of another platform. */
  readonly stateOf: (name: string) => string | undefined;
  readonly faults: readonly Fault[];
}

/** Looks for what only the workflow can tell about a scenario file. */
export function meaningOf(document: Document, scope: Scope): Meaning {
  const reader = new Reader(document, scope);
  reader.readBlock([], document.value);
  const { scenarios } = mapping(document.value);
  for (const [at, block] of listed(scenarios).entries()) reader.readBlock(['scenarios', at], block);
  return { stateOf: reader.stateOf, faults: reader.faults };
}

class Reader {
  readonly faults: Fault[] = [];
  private readonly document: Document;
  private readonly scope: Scope;

  constructor(document: Document, scope: Scope) {
    this.document = document;
    this.scope = scope;
  }

  readonly stateOf = (name: string): string | undefined => {
    const found = resolveState(name, this.scope);
    return found.kind === 'found' ? found.file : undefined;
  };

  /** One scenario, or what several have in common. */
  readBlock(path: Path, block: unknown): void {
    const { answers, vars, expect } = mapping(block);
    this.readNames([...path, 'answers'], answers, (at, value, file) => this.misplaced(at, value, file));
    for (const name of Object.keys(mapping(vars))) {
      const problem = variableProblem(name, this.scope.platform);
      if (problem !== undefined) this.wrong([...path, 'vars', name], problem);
    }
    const { path: way, prompts, cost, turns, reminders } = mapping(expect);
    const within = (key: string): Path => [...path, 'expect', key];
    if (Array.isArray(way)) this.readWay(within('path'), way);
    else for (const [agent, each] of Object.entries(mapping(way))) this.readWay([...within('path'), agent], each);
    this.readNames(within('prompts'), prompts, (at, _, file) => {
      if (!isPrompt(file)) this.wrong(at, `a script is sent no prompt: \`${file}\` does not belong here`);
    });
    for (const [key, value] of Object.entries({ cost, turns, reminders })) this.readNames(within(key), value);
  }

  /** A mapping by state. */
  private readNames(
    path: Path,
    given: unknown,
    look: (at: Path, value: unknown, file: string) => void = () => {},
  ): void {
    const seen = new Set<string>();
    for (const [name, value] of Object.entries(mapping(given))) {
      const at = [...path, name];
      const file = this.meant(name, (message) => this.wrong(at, message));
      if (file === undefined) continue;
      if (seen.has(file)) this.wrong(at, `\`${name}\` is ${file} again: keep one of them`);
      seen.add(file);
      look(at, value, file);
    }
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

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const mapping = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
