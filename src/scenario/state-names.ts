import { isPrompt, isStateFile, nearestState, resolveStateOfRun, runsOn, type Scope } from '../language/state-names.ts';
import { comparePositions } from '../language/text/text.ts';
import { variableNameProblem } from '../language/variable-names.ts';
import { asList, asMapping, type DocumentProblem, type YamlDocument, type YamlPath } from '../yaml/document.ts';

/** The keys that only an answer of a script can have. */
export const SCRIPT_ONLY_KEYS = ['exit', 'stderr'];

/** The keys that only an answer of a prompt can have. */
export const PROMPT_ONLY_KEYS = ['uses', 'deny', 'cost', 'resets_in', 'quota', 'say', 'compact'];

/** The only `fail` that a script can have. */
export const SCRIPT_FAILURE = 'timeout';

/** Finds the file of a state by name; undefined if there is none, or only for another platform. */
export function findStateFile(scope: Scope, name: string): string | undefined {
  const found = resolveStateOfRun(name, scope);
  return found.kind === 'found' ? found.file : undefined;
}

/**
 * Splits a key: `START` is a state for any agent, `main_worker1/START` the same state for one agent. The name of a workflow
 * belongs to the state: `main/review/START`.
 */
export function splitAgentAndState(
  key: string,
  { called = {} }: Scope,
): { readonly agent: string | null; readonly name: string } {
  const [, agent = '', name = key] = /^([^/\\\0]+)\/([\s\S]+)$/.exec(key) ?? [];
  const isWorkflow = !name.includes('/') && Object.hasOwn(called, agent);
  return agent === '' || isWorkflow ? { agent: null, name: key } : { agent, name };
}

/** The states of each scenario's workflow; null for a scenario that is not checked. */
export type ScenarioScopes = readonly (Scope | null)[];

/** Checks the names in a scenario file against its workflows: each must be that of a state. */
export function checkStateNames(document: YamlDocument, scopes: ScenarioScopes): readonly DocumentProblem[] {
  const problemsAt = (path: YamlPath, block: unknown, scope: Scope | null): readonly DocumentProblem[] => {
    if (scope === null) return [];
    const checker = new StateNameChecker(document, scope);
    checker.checkBlock(path, block);
    return checker.problems;
  };
  const scenarios = asList(asMapping(document.value).scenarios);
  const [first = [], ...others] = [...new Set(scopes)].map((scope) => problemsAt([], document.value, scope));
  // Shared keys may be for any of the workflows, so they are wrong only if they are wrong for all of them.
  const shared = first.filter((problem) =>
    others.every((problems) => problems.some((other) => comparePositions(problem, other) === 0)),
  );
  const own = scenarios.flatMap((block, at) => problemsAt(['scenarios', at], block, scopes[at] ?? null));
  return [...shared, ...own];
}

class StateNameChecker {
  readonly problems: DocumentProblem[] = [];
  private readonly document: YamlDocument;
  private readonly scope: Scope;

  constructor(document: YamlDocument, scope: Scope) {
    this.document = document;
    this.scope = scope;
  }

  /** Checks one scenario, or what several share. */
  checkBlock(path: YamlPath, block: unknown): void {
    const { answers, asks, vars, recorded_scripts: recorded, expect } = asMapping(block);
    this.checkStateKeys([...path, 'answers'], answers, (at, value, file) => this.checkKindKeys(at, value, file));
    this.checkStateKeys([...path, 'asks'], asks, () => {}, splitAgentAndState);
    for (const name of Object.keys(asMapping(vars))) {
      const problem = variableNameProblem(name, this.scope.platform);
      if (problem !== undefined) this.report([...path, 'vars', name], problem);
    }
    this.checkStateKeys([...path, 'recorded_scripts'], recorded, (at, _, file) => {
      if (isPrompt(file)) this.report(at, `\`${file}\` is not a script: it does not belong here`);
    });
    const { path: pathContent, prompts, cost, turns, reminders, warnings } = asMapping(expect);
    const inExpect = (key: string): YamlPath => [...path, 'expect', key];
    if (Array.isArray(pathContent)) this.checkPath(inExpect('path'), pathContent);
    else
      for (const [agent, each] of Object.entries(asMapping(pathContent)))
        this.checkPath([...inExpect('path'), agent], each);
    const rejectScript = (at: YamlPath, _: unknown, file: string): void => {
      if (!isPrompt(file)) this.report(at, `\`${file}\` is a script and is sent no prompt: it does not belong here`);
    };
    this.checkStateKeys(inExpect('prompts'), prompts, rejectScript, splitAgentAndState);
    for (const [key, value] of Object.entries({ cost, turns, reminders, warnings }))
      this.checkStateKeys(inExpect(key), value);
  }

  /** Checks a mapping whose keys are states. */
  private checkStateKeys(
    path: YamlPath,
    content: unknown,
    checkValue: (at: YamlPath, value: unknown, file: string) => void = () => {},
    splitKey: typeof splitAgentAndState = (key) => ({ agent: null, name: key }),
  ): void {
    const seen = new Set<string>();
    for (const [key, value] of Object.entries(asMapping(content))) {
      const at = [...path, key];
      const { agent, name } = splitKey(key, this.scope);
      const file = this.resolveName(name, (message) => this.report(at, message + this.suggestRenamed(path, name)));
      if (file === undefined) continue;
      const resolvedKey = agent === null ? file : `${agent}/${file}`;
      if (seen.has(resolvedKey)) this.report(at, `\`${key}\` is ${resolvedKey} again: keep one of them`);
      seen.add(resolvedKey);
      checkValue(at, value, file);
    }
  }

  /** Suggests the state that was probably renamed: the only one of its kind that has no answer. */
  private suggestRenamed(path: YamlPath, name: string): string {
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

  private checkPath(path: YamlPath, states: unknown): void {
    for (const [index, name] of asList(states).entries()) {
      if (typeof name !== 'string') continue;
      this.resolveName(name, (message) =>
        this.problems.push({ ...this.document.positionOf([...path, index]), message }),
      );
    }
  }

  private resolveName(name: string, onProblem: (message: string) => void): string | undefined {
    const found = resolveStateOfRun(name, this.scope);
    if (found.kind === 'found') return found.file;
    if (found.kind !== 'foreign') onProblem(found.message);
    return undefined;
  }

  /** Reports keys that have no meaning for a state of this kind, in answers and lists of them. */
  private checkKindKeys(path: YamlPath, value: unknown, file: string): void {
    for (const [at, each] of asList(value).entries()) this.checkKindKeys([...path, at], each, file);
    const content = asMapping(value);
    const misplacedKeys = (isPrompt(file) ? SCRIPT_ONLY_KEYS : PROMPT_ONLY_KEYS).filter((key) =>
      Object.hasOwn(content, key),
    );
    const kind = isPrompt(file) ? 'prompt' : 'script';
    if (!isPrompt(file) && Object.hasOwn(content, 'fail') && content.fail !== SCRIPT_FAILURE)
      this.report(
        [...path, 'fail'],
        `${file} is a script, which fails with \`exit: 1\` or \`fail: ${SCRIPT_FAILURE}\``,
      );
    for (const key of misplacedKeys) this.report([...path, key], `\`${key}\` means nothing here: ${file} is a ${kind}`);
    for (const key of ['turns', 'visits']) {
      for (const [at, each] of asList(content[key]).entries()) this.checkKindKeys([...path, key, at], each, file);
    }
  }

  private report(path: YamlPath, message: string): void {
    this.problems.push({ ...this.document.positionOfKey(path), message });
  }
}
