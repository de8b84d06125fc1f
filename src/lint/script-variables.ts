import type { VariableUse } from '../graph/variables.ts';
import { stripTags } from '../language/tags/tag-mentions.ts';

/** The syntax of a variable in each kind of script. */
const USES: Readonly<Record<string, RegExp>> = {
  sh: /\$\{?[#!]?(RAYMOND_\w+)/g,
  ps1: /\$\{?env:(RAYMOND_\w+)/gi,
  bat: /[%!](RAYMOND_\w+)[%!:]/gi,
};

/** Finds the variables of a script that begin with RAYMOND_ and that it does not set itself, in order; comments are skipped. */
export function findScriptVariableUses(file: string, script: string): readonly VariableUse[] {
  if (!script.includes('RAYMOND_')) return [];
  const text = script.replace(/^[ \t]*#.*$/gm, (comment) => ' '.repeat(comment.length));
  const ending = file.slice(file.lastIndexOf('.') + 1);
  const uses = [...text.matchAll(USES[ending] ?? /$^/g)].map(({ index, 1: name = '' }) => {
    return { offset: index, name: ending === 'sh' ? name : name.toUpperCase() };
  });
  return uses.filter(({ name }) => !new RegExp(`\\b${name}=`).test(text));
}

/** Finds the uses of these variables in a bash script that neither sets them itself nor is prepared for missing ones, in order. */
export function findForkVariableUses(file: string, script: string, names: ReadonlySet<string>): readonly VariableUse[] {
  if (!file.endsWith('.sh')) return [];
  const text = script.replace(/^[ \t]*#.*$/gm, (comment) => ' '.repeat(comment.length));
  return [...text.matchAll(/\$\{?([A-Za-z_]\w*)/g)].flatMap(({ index, 1: name = '' }) =>
    names.has(name) && !isSetInScript(name, stripTags(text)) && !isPreparedForUnset(name, text)
      ? { name, offset: index }
      : [],
  );
}

/** True if a script gives a variable a value: by an assignment, a loop, or a command that reads. */
const isSetInScript = (name: string, script: string): boolean =>
  new RegExp(
    `(?:^|[^\\w$])${name}(?:\\[[^\\]]*\\])?\\+?=|\\b(?:for|select|read|mapfile|readarray|getopts|printf\\s+-v)\\b[^\\n;]*\\b${name}\\b`,
    'm',
  ).test(script);

/** True if a script is prepared for a variable that is not set: it tests it, or has a default for it. */
export const isPreparedForUnset = (name: string, script: string): boolean =>
  new RegExp(
    `\\$\\{${name}:?[-+=?]|-[nzefrsv]\\s+["']?\\$?\\{?(?:env:)?${name}\\b|(?:defined|exists?)\\b.*${name}`,
    'i',
  ).test(script);
