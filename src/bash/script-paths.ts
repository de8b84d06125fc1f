import { AbstractInterpreter } from './abstract-interpreter.ts';
import { succeedWith, type WastedTag } from './outcomes.ts';
import { type CommandList, pipelinesOf } from './parse.ts';
import { findPrintedTags, joinOutputs, NOTHING_PRINTED, type PathOutput, type PathOutputs } from './path-outputs.ts';
import { isSimple, isTestCommand, readSimpleCommand } from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import { listCommands } from './walk.ts';

/** All paths through a script. */
export interface ScriptPaths {
  /** The output on each path that succeeds. */
  readonly outputs: readonly PathOutput[];
  /** The tags that it prints before it fails, which are not read. */
  readonly wastedTags: readonly WastedTag[];
}

/** A longer chain of `&&` and `||` is not followed: what decides about each of its commands is all that is before it. */
const MAX_CHAIN = 200;

/** Finds the paths through a script; undefined if they are unknown. */
export function findScriptPaths(script: CommandList, values: VariableValues): ScriptPaths | undefined {
  if (listCommands(script).some(({ context }) => context.preceding.length > MAX_CHAIN)) return undefined;
  const interpreter = new AbstractInterpreter(script, values);
  const { ok, no } = interpreter.runList(script, succeedWith(NOTHING_PRINTED));
  const { gaveUp, exits } = interpreter.state;
  if (gaveUp) return undefined;
  const outputs = [...joinOutputs(exits.successOutputs, ok, no).values()];
  return { outputs, wastedTags: [...exits.wastedTags, ...findTagsWastedByLastTest(script.at(-1), no)] };
}

/** A test at the very end that guards something, as in `[ -f tmp ] && rm tmp`, makes the script fail if it is not so. */
function findTagsWastedByLastTest(last: CommandList[number] | undefined, no: PathOutputs): readonly WastedTag[] {
  const { commands, operators } = last === undefined ? { commands: [], operators: [] } : pipelinesOf(last);
  const [guard] = commands;
  if (guard === undefined || operators.length === 0 || operators.includes('||')) return [];
  if (guard.type === 'Pipeline' || guard.type === 'Redirected' || !isSimple(guard)) return [];
  const { name } = readSimpleCommand(guard);
  if (!isTestCommand(name) && name !== '((') return [];
  return findPrintedTags(no, []).map(({ at }) => ({ tag: at, end: guard.pos, by: 'test' }));
}
