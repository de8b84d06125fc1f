import { fileInWorkflow, nameState, workflowNameOf } from './named-workflows.ts';
import { shortenForMessage } from './problem.ts';
import { nearest } from './text/nearest.ts';

/** The kind of machine, which decides what scripts can run. */
export type Platform = 'unix' | 'windows';

/** The files of a workflow and the kind of machine: what a state's name is resolved against. */
export interface Scope {
  readonly files: readonly string[];
  readonly platform: Platform;
  /** Set in a one-file workflow: an extension in a name is left out, because `X.md` is the state X whatever its kind. */
  readonly anyExtension?: boolean;
  /** The scopes of the workflows that are called, by name, where states of all of them can be named. */
  readonly called?: Readonly<Record<string, Scope>>;
}

/** A resolved state's name, or the message that says why it names no state. */
export type Resolution =
  | { readonly kind: 'found'; readonly file: string }
  | { readonly kind: 'unsafe' | 'unknown' | 'ambiguous' | 'foreign'; readonly message: string };

const PROMPT_EXTENSION = '.md';
const SCRIPT_EXTENSIONS: Record<Platform, readonly string[]> = { unix: ['.sh'], windows: ['.ps1', '.bat'] };
const EXTENSIONS = [PROMPT_EXTENSION, ...SCRIPT_EXTENSIONS.unix, ...SCRIPT_EXTENSIONS.windows];
const ENTRY_NAMES = ['1_START', 'START'];

/** True if a file of a workflow's folder is a state. */
export const isStateFile = (file: string): boolean => extensionOf(file) !== '';

/** True if a state is a prompt for Claude Code; the others are scripts. */
export const isPrompt = (file: string): boolean => extensionOf(file) === PROMPT_EXTENSION;

/** True if a file is a state that this kind of machine can run. */
export const runsOn = (file: string, platform: Platform): boolean =>
  [PROMPT_EXTENSION, ...SCRIPT_EXTENSIONS[platform]].includes(extensionOf(file));

/** A state's name without its extension. A dot is part of the name unless a known extension follows. */
export const stem = (file: string): string => file.slice(0, file.length - extensionOf(file).length);

/** Finds the file that a name in a tag or a policy stands for; the name may lack its extension. */
export function resolveState(name: string, scope: Scope): Resolution {
  const unsafe = unsafeNameMessage(name);
  if (unsafe !== undefined) return { kind: 'unsafe', message: unsafe };
  const extension = extensionOf(name);
  if (extension !== '') {
    if (!scope.files.includes(name) && scope.anyExtension) return resolveState(stem(name), scope);
    if (!scope.files.includes(name)) return { kind: 'unknown', message: unknownStateMessage(name, scope) };
    if (runsOn(name, scope.platform)) return { kind: 'found', file: name };
    const here = resolveState(stem(name), scope);
    const isHereToo = here.kind === 'found' && !isPrompt(here.file);
    const message = isHereToo
      ? `the state \`${name}\` is only for ${OTHER_SYSTEM[scope.platform]}; without its extension, \`${stem(name)}\` is ${here.file} here`
      : foreignStateMessage(name, [name], scope.platform);
    return { kind: 'foreign', message };
  }
  const files = EXTENSIONS.map((ending) => name + ending).filter((file) => scope.files.includes(file));
  const runnable = files.filter((file) => runsOn(file, scope.platform));
  const [file, second] = runnable;
  if (file !== undefined && second === undefined) return { kind: 'found', file };
  if (file !== undefined) {
    const all = runnable.length === 2 ? 'both' : 'all';
    const message = `the state \`${name}\` is ambiguous: ${runnable.join(' and ')} ${all} exist; write the extension`;
    return { kind: 'ambiguous', message };
  }
  if (files.length > 0) return { kind: 'foreign', message: foreignStateMessage(name, files, scope.platform) };
  return { kind: 'unknown', message: unknownStateMessage(name, scope) };
}

/** Finds the state that a run calls by this name: one of its own workflow, or `WORKFLOW/STATE` of one that is called. */
export function resolveStateOfRun(name: string, scope: Scope): Resolution {
  const workflow = workflowNameOf(name);
  const called =
    workflow !== null && Object.hasOwn(scope.called ?? {}, workflow) ? scope.called?.[workflow] : undefined;
  if (workflow !== null && called === undefined && scope.called !== undefined) {
    const meant = formatSuggestion(nearest(workflow, Object.keys(scope.called)));
    return {
      kind: 'unknown',
      message: `\`${shortenForMessage(workflow)}\` is not one of the workflows that are called${meant}`,
    };
  }
  const found = resolveState(called === undefined ? name : fileInWorkflow(name), called ?? scope);
  return found.kind === 'found' && called !== undefined ? { ...found, file: nameState(workflow, found.file) } : found;
}

/** Finds the state in which a folder or a zip starts. */
export function resolveEntry(scope: Scope): Resolution {
  const states = scope.files.filter((file) => runsOn(file, scope.platform));
  const [entry, ...others] = states.filter((file) => ENTRY_NAMES.includes(stem(file))).sort();
  if (entry !== undefined && others.length === 0) return { kind: 'found', file: entry };
  if (entry !== undefined) {
    const message = `it could start in ${[entry, ...others].join(' or in ')}: keep only one of them`;
    return { kind: 'ambiguous', message };
  }
  const foreign = ENTRY_NAMES.map((name) => resolveState(name, scope)).find(({ kind }) => kind === 'foreign');
  const added = scope.anyExtension ? 'state START or 1_START' : 'START.md or 1_START.md';
  const message = `there is no state to start in: add a ${added}${suggestEntry(states)}`;
  return foreign ?? { kind: 'unknown', message };
}

/** Suggests a state that may have been meant as the entry. */
function suggestEntry(states: readonly string[]): string {
  const same = states.find((file) => ENTRY_NAMES.includes(stem(file).toUpperCase()));
  if (same !== undefined) return `; ${same} is another name, because upper and lower case count`;
  const near = ENTRY_NAMES.flatMap((name) => nearestState(name, states) ?? []);
  return formatSuggestion(states.find((file) => near.includes(stem(file))));
}

const formatSuggestion = (meant: string | undefined): string =>
  meant === undefined ? '' : ` (did you mean ${meant}?)`;

/** The state most likely meant by an unknown name, with or without extension like that name; undefined if none is near. */
export function nearestState(name: string, states: readonly string[]): string | undefined {
  const wantedStem = stem(name);
  if (wantedStem.length > MAX_NAME_LENGTH) return undefined;
  const others = states.filter((file) => couldBeTypo(wantedStem, stem(file)));
  if (wantedStem === name) return nearest(name, [...others.map(stem), ...others]);
  // Extensions are left out: they would make every short name similar to every other.
  const near = nearest(wantedStem, others.map(stem));
  const files = others.filter((file) => stem(file) === near);
  return files.find((file) => extensionOf(file) === extensionOf(name)) ?? files[0];
}

/** True if one name can be a typo of another: STEP_3 is no typo of STEP_1, nor W1 of A1. */
function couldBeTypo(a: string, b: string): boolean {
  const [one = '', other = ''] = [a, b].map((name) => name.toLowerCase());
  const numbersIn = (name: string): string => (name.match(/\d+/g) ?? []).map(Number).join();
  const shapeOf = (name: string): string => name.replace(/\d+/g, '0');
  if (one.length < MIN_TYPO_LENGTH) return one === other;
  return shapeOf(one) !== shapeOf(other) || numbersIn(one) === numbersIn(other);
}

/** Shorter names must match exactly. */
const MIN_TYPO_LENGTH = 3;
/** The longest file name of common file systems. */
const MAX_NAME_LENGTH = 255;

/** Explains why a name cannot be a state's in any workflow; undefined if it can. */
function unsafeNameMessage(name: string): string | undefined {
  if (name === '') return 'the name of the state is empty';
  const separator = /[/\\]/.exec(name)?.[0];
  if (separator !== undefined)
    return `\`${shortenForMessage(name)}\` contains \`${separator}\`: name a state of this workflow, not a path`;
  if (name.includes('\0')) return `${JSON.stringify(shortenForMessage(name))} contains a NUL character`;
  return undefined;
}

function extensionOf(file: string): string {
  const name = fileInWorkflow(file);
  return EXTENSIONS.find((ending) => name.endsWith(ending) && name.length > ending.length) ?? '';
}

function unknownStateMessage(name: string, scope: Scope): string {
  const meant = nearestState(name, scope.files.filter(isStateFile));
  const extensionHint = scope.files.includes(name) ? `; a state's file ends in ${EXTENSIONS.join(', ')}` : '';
  return `there is no state \`${shortenForMessage(name)}\` in this workflow${formatSuggestion(meant)}${extensionHint}`;
}

const OTHER_SYSTEM: Readonly<Record<Platform, string>> = { unix: 'Windows', windows: 'Unix' };

function foreignStateMessage(name: string, files: readonly string[], platform: Platform): string {
  const missingFiles = SCRIPT_EXTENSIONS[platform].map((ending) => stem(files[0] ?? name) + ending).join(' or ');
  return `the state \`${name}\` exists only for ${OTHER_SYSTEM[platform]} (${files.join(', ')}); add ${missingFiles} to run it here`;
}

/** True if a file may be a state: these names are for people and agents that work on the folder. */
export const isNotDocFile = (file: string): boolean => !DOC_FILES.includes(file.toLowerCase());

const DOC_FILES = ['readme.md', 'claude.md', 'agents.md'];
