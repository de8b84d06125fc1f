import { escapesAnalysis, readCommandOutput, readTrapHandlers } from './command-output.ts';
import { substituteArguments } from './expanded-tags.ts';
import type { InterpreterState } from './interpreter-state.ts';
import { type CommandOutcome, failWith, mapOutcome, predictOutcome, succeedWith, UNREACHED } from './outcomes.ts';
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
  const outputs = state.around.reachesStdout ? printOutput(command, from, state) : from;
  const trapsPrinting = readTrapHandlers(command).some((name) => state.isPrinting(name));
  if (escapesAnalysis(command) || trapsPrinting) state.gaveUp = true;
  const code = command.args[0]?.text;
  const end = code === undefined ? state.previous : code === '0' ? succeedWith(outputs) : failWith(outputs);
  switch (command.name) {
    case 'exit':
      state.exits.recordExit(end, code, command.at, state.around.conditions);
      return UNREACHED;
    case 'return':
      // A function may test a flag of its own to print only once; whether it did so before is not followed.
      if (state.around.conditions.some((each) => state.conditionReader.dependsOnFlag(each))) state.gaveUp = true;
      state.exits.recordReturn(mapOutcome(end, (each) => markSilent(each, command.at)));
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
  const { conditions, call } = state.around;
  const isUnclosedResult = output.unclosedTags.some(({ name }) => name === 'result');
  const before = output.sure && isUnclosedResult ? appendUnclosedResult(from) : from;
  const printed = output.sure ? appendTags(before, substituteArguments(output.tags, call), conditions) : from;
  if (!output.mayPrintUnknown) return printed;
  return state.isKnown(command, output) ? forgetSilence(printed) : addPossibleTag(printed);
}
