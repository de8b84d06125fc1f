import { AbstractInterpreter } from './abstract-interpreter.ts';
import { succeedWith } from './command-outcome.ts';
import { splitCommandWords } from './command-output.ts';
import type { WastedTag } from './exits.ts';
import { findPrintedTags, joinOutputs, NOTHING_PRINTED, type PathOutput, type PathOutputs } from './path-outputs.ts';
import type { AndOrList, CommandList } from './syntax-tree.ts';
import type { VariableValues } from './variable-values.ts';

/** What comes of a script. */
export interface ScriptPaths {
  /** What it has printed when it ends well, for each of its ways. */
  readonly outputs: readonly PathOutput[];
  /** Where it prints a tag and then fails, so that nobody listens to it. */
  readonly wastedTags: readonly WastedTag[];
}

/** The ways through a script; undefined if they cannot be told. */
export function findScriptPaths(script: CommandList, values: VariableValues): ScriptPaths | undefined {
  const interpreter = new AbstractInterpreter(script, values);
  const { ok, no } = interpreter.runList(script, succeedWith(NOTHING_PRINTED), true);
  if (interpreter.gaveUp) return undefined;
  const outputs = [...joinOutputs(interpreter.exits.successOutputs, ok, no).values()];
  return { outputs, wastedTags: [...interpreter.exits.wastedTags, ...findTagsWastedByLastTest(script.at(-1), no)] };
}

/** A test at the very end that guards something, as in `[ -f tmp ] && rm tmp`, makes the script fail if it is not so. */
function findTagsWastedByLastTest(last: AndOrList | undefined, no: PathOutputs): readonly WastedTag[] {
  const [guard] = last?.first.commands ?? [];
  if (last === undefined || guard?.command.kind !== 'simple' || last.rest.length === 0) return [];
  const { name } = splitCommandWords(guard.command.words);
  if (!['[', '[[', 'test', '(('].includes(name) || last.rest.some(({ op }) => op !== '&&')) return [];
  return findPrintedTags(no, []).map(({ at }) => ({ tag: at, end: guard.at, by: 'test' }));
}
