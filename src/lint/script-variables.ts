import type { VariableUse } from '../graph/variables.ts';

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

/** Whether a script is prepared for a variable that is not set: it tests it, or has a default for it. */
export const isPreparedForUnset = (name: string, script: string): boolean =>
  new RegExp(
    `\\$\\{${name}:?[-+=?]|-[nzefrsv]\\s+["']?\\$?\\{?(?:env:)?${name}\\b|(?:defined|exists?)\\b.*${name}`,
    'i',
  ).test(script);
