import { type CommandOutcome, exitWithCode, mapOutcome, predictOutcome, UNREACHED } from './command-outcome.ts';
import { escapesAnalysis, readCommandOutput, readTrapHandlers } from './command-output.ts';
import { substituteArguments } from './expanded-tags.ts';
import type { InterpreterState } from './interpreter-state.ts';
import {
  addPossibleTag,
  appendTags,
  appendUnclosedResult,
  forgetSilence,
  markSilent,
  type PathOutputs,
} from './path-outputs.ts';
import type { SimpleCommand } from './simple-command.ts';

/** Applies a simple command that is no call of a function: its output, then `exit`, `return`, `break` or `continue`. */
export function runSimpleCommand(command: SimpleCommand, from: PathOutputs, state: InterpreterState): CommandOutcome {
  const outputs = state.reachesStdout ? printOutput(command, from, state) : from;
  const trapsPrinting = readTrapHandlers(command).some((name) => state.isPrinting(name));
  if (escapesAnalysis(command) || trapsPrinting) state.gaveUp = true;
  const code = command.args[0]?.text;
  const end = code === undefined ? state.previous : exitWithCode(code, outputs);
  switch (command.name) {
    case 'exit':
      state.exits.recordExit(end, code, command.at, state.conditions);
      return UNREACHED;
    case 'return':
      recordReturn(command, end, state);
      return UNREACHED;
    case 'break':
      state.exits.recordBreak(outputs);
      return UNREACHED;
    case 'continue':
      state.exits.recordContinue(outputs);
      return UNREACHED;
    default:
      return predictOutcome(command, outputs);
  }
}

function printOutput(command: SimpleCommand, from: PathOutputs, state: InterpreterState): PathOutputs {
  const output = readCommandOutput(command);
  const conditions = [...state.conditions, ...state.negatedFlags];
  const isUnclosedResult = output.unclosedTags.some(({ name }) => name === 'result');
  const before = output.sure && isUnclosedResult ? appendUnclosedResult(from) : from;
  const printed = output.sure ? appendTags(before, substituteArguments(output, state.call), conditions) : from;
  if (!output.mayPrintUnknown) return printed;
  return state.facts.isKnown(command, output) ? forgetSilence(printed) : addPossibleTag(printed);
}

/** A function that returns because of its own flag variable has printed in an earlier call, so this path is not silent. */
function recordReturn({ at }: SimpleCommand, end: CommandOutcome, state: InterpreterState): void {
  const flags = state.conditions.filter((condition) => state.facts.conditions.dependsOnFlag(condition));
  state.negatedFlags = [...state.negatedFlags, ...flags];
  state.exits.recordReturn(
    mapOutcome(end, (outputs) => (flags.length > 0 ? forgetSilence(outputs) : markSilent(outputs, at))),
  );
}
