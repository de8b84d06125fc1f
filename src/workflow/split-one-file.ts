import { isPrompt, stem } from '../language/state-names.ts';
import { quoteInMessage } from '../yaml/finding-report.ts';
import { YamlTree } from '../yaml/yaml-tree.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { BODY_KEYS } from './one-file-states.ts';
import { splitPrompt } from './prompt-file.ts';
import { hasScriptFrontmatter } from './script-file.ts';
import type { FileContent } from './workflow-files.ts';
import type { WorkflowFileMap } from './write-one-file.ts';

/** The files that a one-file workflow stands for, with what has no place in them. */
export interface SplitWorkflow {
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
