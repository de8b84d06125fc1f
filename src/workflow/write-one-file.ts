import { isNotDocFile, isPrompt, isStateFile, resolveEntry, stem } from '../language/state-names.ts';
import { quoteInMessage } from '../yaml/finding-report.ts';
import { YamlTree } from '../yaml/yaml-tree.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { BODY_KEYS } from './one-file-states.ts';
import { splitPrompt } from './prompt-file.ts';
import { hasScriptFrontmatter } from './script-file.ts';
import type { FileContent } from './workflow-files.ts';

/** The files of a workflow by name. */
export type WorkflowFileMap = ReadonlyMap<string, FileContent>;

/** True if a file has a place in a one-file workflow: a state, or the manifest. */
export const fitsIntoOneFile = (file: string): boolean =>
  file === MANIFEST_FILE || (isStateFile(file) && isNotDocFile(file));

/** Explains which of these files, which have no errors, cannot be states of one file together. */
export function findOneFileObstacles(files: WorkflowFileMap): readonly string[] {
  const states = [...files.keys()].filter((file) => file !== MANIFEST_FILE && fitsIntoOneFile(file));
  const doubled = states
    .filter(isPrompt)
    .flatMap((prompt) =>
      states.filter((file) => !isPrompt(file) && stem(file) === stem(prompt)).map((file) => [prompt, file]),
    );
  const reserved = states.filter(isPrompt).flatMap((file) => {
    const key = settingsOf(file, textOf(files, file)).keys.find((name) => Object.hasOwn(BODY_KEYS, name));
    return key === undefined ? [] : [[file, key]];
  });
  return [
    ...doubled.map(
      ([prompt, script]) => `${prompt} and ${script} have one name: in one file, a state is a prompt or a script`,
    ),
    ...reserved.map(
      ([file, key = '']) => `${file} has the key ${quoteInMessage(key)}: in one file, that is the text of a state`,
    ),
  ];
}

/** Writes the states and the manifest among these files as the text of a one-file workflow. */
export function writeOneFile(files: WorkflowFileMap): string {
  const manifest = YamlTree.parse(files.has(MANIFEST_FILE) ? textOf(files, MANIFEST_FILE) : '');
  const names = [
    ...new Set([...files.keys()].filter((file) => file !== MANIFEST_FILE && fitsIntoOneFile(file)).map(stem)),
  ];
  const entry = resolveEntry({ files: [...files.keys()], platform: 'unix' });
  const first = entry.kind === 'found' ? stem(entry.file) : '';
  const states = YamlTree.parse('');
  for (const name of names.toSorted((a, b) => Number(b === first) - Number(a === first) || (a < b ? -1 : 1)))
    states.addTree(name, buildStateTree(name, files));
  manifest.addTree('states', states);
  return manifest.format();
}

function buildStateTree(name: string, files: WorkflowFileMap): YamlTree {
  const prompt = `${name}.md`;
  const state = files.has(prompt) ? settingsOf(prompt, textOf(files, prompt)) : YamlTree.parse('');
  for (const [key, extension] of Object.entries(BODY_KEYS)) {
    const file = name + extension;
    if (!files.has(file)) continue;
    const text = textOf(files, file);
    state.addText(key, key === 'prompt' ? bodyOf(text) : text);
  }
  return state;
}

/** The frontmatter of a prompt; that of a script is part of its text. */
function settingsOf(file: string, text: string): YamlTree {
  const parts = splitPrompt(text);
  return YamlTree.parse(isPrompt(file) && parts.kind === 'fenced' ? parts.yaml : '');
}

function bodyOf(text: string): string {
  const parts = splitPrompt(text);
  return parts.kind === 'unclosed' ? text : parts.body;
}

const textOf = (files: WorkflowFileMap, file: string): string =>
  Buffer.from(files.get(file)?.bytes ?? []).toString('utf8');

/** The files that a one-file workflow stands for, with what has no place in them. */
interface SplitWorkflow {
  readonly files: WorkflowFileMap;
  readonly problems: readonly string[];
  /** A description of the parts left out. */
  readonly leftOut: readonly string[];
}

/** Writes a one-file workflow without errors, of which these are the prompts and scripts by file, as the files of a folder. */
export function splitOneFile(text: string, bodies: ReadonlyMap<string, string>): SplitWorkflow {
  const tree = YamlTree.parse(text);
  const states = tree.child('states') ?? YamlTree.parse('');
  const files = new Map<string, FileContent>();
  const problems: string[] = [];
  const leftOut: string[] = [];
  const addFile = (file: string, content: string, executable = false): void => {
    files.set(file, { bytes: Buffer.from(content), executable });
  };
  const manifest = tree.without((key) => key === 'states').format();
  if (manifest !== '') addFile(MANIFEST_FILE, manifest);
  for (const [file, body] of bodies) {
    const key = states.keys.find((name) => stem(name) === stem(file)) ?? '';
    const settings = (states.child(key, 'with comment') ?? YamlTree.parse('')).without((name) =>
      Object.hasOwn(BODY_KEYS, name),
    );
    const quoted = quoteInMessage(stem(file));
    if (isPrompt(file)) {
      addFile(file, addPromptFrontmatter(settings.format(), body));
    } else if (settings.keys.length === 0) {
      if (!settings.isEmpty) leftOut.push(`the comments beside the script of ${quoted}`);
      addFile(file, body, body.startsWith('#!'));
    } else if (hasScriptFrontmatter(file, body)) {
      problems.push(`the state ${quoted} has keys beside its script and frontmatter in it: keep them in one place`);
    } else {
      addFile(file, addScriptFrontmatter(file, settings.format(), body), body.startsWith('#!'));
    }
  }
  return { files, problems, leftOut };
}

/** A prompt that looks as if it began with frontmatter gets an empty one. */
function addPromptFrontmatter(yaml: string, body: string): string {
  const isPlain = splitPrompt(body).kind === 'plain' && !body.startsWith('\uFEFF');
  return yaml === '' && isPlain ? body : `---\n${yaml}---\n${body}`;
}

const FIRST_LINE = /^(?:#!|\s*@echo off\s*$)/i;

/** Puts frontmatter into a script as comments, below the line with the interpreter. In batch files, `::` is never printed. */
function addScriptFrontmatter(file: string, yaml: string, body: string): string {
  const lineEnd = body.includes('\r\n') ? '\r\n' : '\n';
  const sign = file.endsWith('.bat') ? '::' : '#';
  const lines = ['---', ...yaml.trimEnd().split('\n'), '---'].map((line) => `${sign} ${line}`.trimEnd() + lineEnd);
  const firstEnd = body.indexOf('\n') + 1;
  const headEnd = FIRST_LINE.test(body.slice(0, firstEnd).trimEnd()) ? firstEnd : 0;
  return body.slice(0, headEnd) + lines.join('') + body.slice(headEnd);
}
