import type { StateAnalysis } from '../../graph/state-analysis.ts';
import {
  findArrival,
  findResultPathUses,
  findStatesWithResult,
  findVariableUses,
  mayHandOver,
  type VariableUse,
} from '../../graph/variables.ts';
import { RUN_VARIABLES } from '../../language/variable-names.ts';
import { collapseAnyState, formatStepPath } from '../messages.ts';
import { defineRule, type RuleFinding } from '../rule.ts';
import { findScriptVariableUses, isPreparedForUnset } from '../script-variables.ts';

/** A prompt or a script uses a result, and nothing passes one to it, or not on every path. */
export const undefinedResult = defineRule({ id: 'undefined-result', level: 'warning' }, (context) => {
  const withResult = findStatesWithResult(context.proof);
  return context.analyses.flatMap((analysis): readonly RuleFinding[] => {
    const { file } = analysis;
    if (analysis.broken || !context.isReached(file) || context.graph.mereEvaluators.has(file)) return [];
    const use = findResultUse(analysis);
    if (use === undefined) return [];
    const state = context.proof.flow.numberOf(file);
    const shown = analysis.kind === 'prompt' ? `{{${use.name}}}` : use.name;
    const at = analysis.positionAt(use.offset);
    if (!withResult.has(state)) {
      const message = `nothing hands a ${shown} to ${file}: no call returns here, and no tag that leads here has an \`input\``;
      return [{ file, at, message, hint: HAND_ON }];
    }
    const path = collapseAnyState(findArrival(context.proof, state, (move) => !mayHandOver(move)));
    if (path.length === 0) return [];
    return [
      {
        file,
        at,
        message: `${shown} is not set on this path to ${file}: ${formatStepPath(path, file)}`,
        hint: HAND_ON,
        path,
      },
    ];
  });
});

const HAND_ON = 'A result lives for one state: hand it on with `input="…"`, or write it into a file.';

/** The variables of a script that are set only if there is a result. */
const RESULT_VARIABLES: readonly string[] = [RUN_VARIABLES.result, RUN_VARIABLES.input, 'RAYMOND_RESULT_FILE'];

function findResultUse({ file, kind, source }: StateAnalysis): VariableUse | undefined {
  const { text } = source.state;
  if (kind === 'prompt') {
    const whole = findVariableUses(text).find(({ name }) => name === 'result' || name === 'input');
    return whole ?? findResultPathUses(text)[0];
  }
  return findScriptVariableUses(file, text).find(
    ({ name }) => RESULT_VARIABLES.includes(name) && !isPreparedForUnset(name, text),
  );
}
