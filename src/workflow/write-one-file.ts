import { isNotDocFile, isPrompt, isStateFile, resolveEntry, stem } from '../language/state-names.ts';
import { quoteInMessage } from '../yaml/finding-report.ts';
import { YamlTree } from '../yaml/yaml-tree.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { BODY_KEYS } from './one-file-states.ts';
import { splitPrompt } from './prompt-file.ts';
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
