import { isPrompt, isStateFile, nearestState, resolveState, runsOn, type Scope } from '../core/state-names.ts';
import { variableNameProblem } from '../core/variables.ts';
import { asList, asMapping, type DocumentProblem, type YamlDocument } from '../yaml/document.ts';

export const SCRIPT_ONLY_KEYS = ['exit', 'stderr'];
export const PROMPT_ONLY_KEYS = ['uses', 'deny', 'cost', 'fail', 'resets_in'];

type Path = readonly (string | number)[];

/** The file of the state that a name means; undefined if it means none, or one of another platform. */
export function findStateFile(scope: Scope, name: string): string | undefined {
  const found = resolveState(name, scope);
  return found.kind === 'found' ? found.file : undefined;
}

/** `START` is a state, whoever enters it; `main_worker1/START` is the same, entered by that agent. */
export function splitAgentAndState(key: string): { readonly agent: string | null; readonly name: string } {
  const [, agent = null, name = key] = /^([^/\\\0]+)\/([\s\S]+)$/.exec(key) ?? [];
  return { agent, name };
}

/** The states of the workflow that each scenario of a file is for; null for a scenario that is not to be played. */
export type ScenarioScopes = readonly (Scope | null)[];

/** Looks for what only its workflows can tell about a scenario file: each name must be that of a state. */
export function checkStateNames(document: YamlDocument, scopes: ScenarioScopes): readonly DocumentProblem[] {
  const problemsAt = (path: Path, block: unknown, scope: Scope | null): readonly DocumentProblem[] => {
    if (scope === null) return [];
    const checker = new StateNameChecker(document, scope);
    checker.checkBlock(path, block);
    return checker.problems;
  };
  const scenarios = asList(asMapping(document.value).scenarios);
  const [first = [], ...others] = [...new Set(scopes)].map((scope) => problemsAt([], document.value, scope));
  // What stands beside scenarios for several workflows is meant for any of them.
  const shared = first.filter((problem) =>
    others.every((problems) => problems.some((other) => isSamePosition(problem, other))),
  );
  const own = scenarios.flatMap((block, at) => problemsAt(['scenarios', at], block, scopes[at] ?? null));
  return [...shared, ...own];
}

const isSamePosition = (a: DocumentProblem, b: DocumentProblem): boolean => a.line === b.line && a.column === b.column;

class StateNameChecker {
  readonly problems: DocumentProblem[] = [];
  private readonly document: YamlDocument;
  private readonly scope: Scope;

  constructor(document: YamlDocument, scope: Scope) {
    this.document = document;
    this.scope = scope;
  }

  /** One scenario, or what several have in common. */
  checkBlock(path: Path, block: unknown): void {
    const { answers, vars, recorded_scripts: recorded, expect } = asMapping(block);
    this.checkStateKeys([...path, 'answers'], answers, (at, value, file) => this.checkKindKeys(at, value, file));
    for (const name of Object.keys(asMapping(vars))) {
      const problem = variableNameProblem(name, this.scope.platform);
      if (problem !== undefined) this.report([...path, 'vars', name], problem);
    }
    this.checkStateKeys([...path, 'recorded_scripts'], recorded, (at, _, file) => {
      if (isPrompt(file)) this.report(at, `\`${file}\` is no script: it does not belong here`);
    });
    const { path: pathContent, prompts, cost, turns, reminders, warnings } = asMapping(expect);
    const inExpect = (key: string): Path => [...path, 'expect', key];
    if (Array.isArray(pathContent)) this.checkPath(inExpect('path'), pathContent);
    else
      for (const [agent, each] of Object.entries(asMapping(pathContent)))
        this.checkPath([...inExpect('path'), agent], each);
    const rejectScript = (at: Path, _: unknown, file: string): void => {
      if (!isPrompt(file)) this.report(at, `a script is sent no prompt: \`${file}\` does not belong here`);
    };
    this.checkStateKeys(inExpect('prompts'), prompts, rejectScript, splitAgentAndState);
    for (const [key, value] of Object.entries({ cost, turns, reminders, warnings }))
      this.checkStateKeys(inExpect(key), value);
  }

  /** A mapping by state. */
  private checkStateKeys(
    path: Path,
    content: unknown,
    checkValue: (at: Path, value: unknown, file: string) => void = () => {},
    splitKey: typeof splitAgentAndState = (key) => ({ agent: null, name: key }),
  ): void {
    const seen = new Set<string>();
    for (const [key, value] of Object.entries(asMapping(content))) {
      const at = [...path, key];
      const { agent, name } = splitKey(key);
      const file = this.resolveName(name, (message) => this.report(at, message + this.suggestRenamed(path, name)));
      if (file === undefined) continue;
      const resolvedKey = agent === null ? file : `${agent}/${file}`;
      if (seen.has(resolvedKey)) this.report(at, `\`${key}\` is ${resolvedKey} again: keep one of them`);
      seen.add(resolvedKey);
      checkValue(at, value, file);
    }
  }

  /** A state that has no answer may be the one that has another name by now, as long as there is only one like it. */
  private suggestRenamed(path: Path, name: string): string {
    if (path.at(-1) !== 'answers' || nearestState(name, this.scope.files.filter(isStateFile)) !== undefined) return '';
    const root = asMapping(this.document.value);
    const answered = [root, ...asList(root.scenarios)].flatMap((block) => {
      return Object.keys(asMapping(asMapping(block).answers)).map((key) => findStateFile(this.scope, key));
    });
    const isSameKind = (file: string): boolean => !isStateFile(name) || isPrompt(file) === isPrompt(name);
    const { files, platform } = this.scope;
    const [candidate, second] = files.filter(
      (file) => runsOn(file, platform) && isSameKind(file) && !answered.includes(file),
    );
    return candidate === undefined || second !== undefined
      ? ''
      : `; ${candidate} has no answer here: has it been renamed?`;
  }

  private checkPath(path: Path, states: unknown): void {
    for (const [index, name] of asList(states).entries()) {
      if (typeof name !== 'string') continue;
      this.resolveName(name, (message) =>
        this.problems.push({ ...this.document.positionOf([...path, index]), message }),
      );
    }
  }

  private resolveName(name: string, onProblem: (message: string) => void): string | undefined {
    const found = resolveState(name, this.scope);
    if (found.kind === 'found') return found.file;
    if (found.kind !== 'foreign') onProblem(found.message);
    return undefined;
  }

  /** Keys that mean nothing in a state of this kind, in answers and lists of them. */
  private checkKindKeys(path: Path, value: unknown, file: string): void {
    for (const [at, each] of asList(value).entries()) this.checkKindKeys([...path, at], each, file);
    const content = asMapping(value);
    const misplacedKeys = (isPrompt(file) ? SCRIPT_ONLY_KEYS : PROMPT_ONLY_KEYS).filter((key) =>
      Object.hasOwn(content, key),
    );
    const kind = isPrompt(file) ? 'prompt' : 'script';
    for (const key of misplacedKeys) this.report([...path, key], `\`${key}\` means nothing here: ${file} is a ${kind}`);
    for (const key of ['turns', 'visits']) {
      for (const [at, each] of asList(content[key]).entries()) this.checkKindKeys([...path, key, at], each, file);
    }
  }

  private report(path: Path, message: string): void {
    this.problems.push({ ...this.document.positionOfKey(path), message });
  }
}
