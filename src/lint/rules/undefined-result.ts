import { RUN_VARIABLES } from '../../core/variables.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { findResultPathUses, findStatesWithResult, findVariableUses, type VariableUse } from '../../graph/variables.ts';
import { defineRule } from '../rule.ts';
import { findScriptVariableUses, isPreparedForUnset } from '../script-variables.ts';

/** A prompt or a script uses a result, and nothing ever passes one to it. */
export const undefinedResult = defineRule({ id: 'undefined-result', level: 'warning' }, (context) => {
  const withResult = findStatesWithResult(context.proof);
  return context.analyses.flatMap((analysis) => {
    const lacksResult = context.isReached(analysis.file) && !withResult.has(context.proof.flow.numberOf(analysis.file));
    if (analysis.broken || !lacksResult || context.graph.mereEvaluators.has(analysis.file)) return [];
    const use = findResultUse(analysis);
    if (use === undefined) return [];
    const shown = analysis.kind === 'prompt' ? `{{${use.name}}}` : use.name;
    const message = `nothing hands a ${shown} to ${analysis.file}: no call returns here, and no tag that leads here has an \`input\``;
    const hint = 'A result lives for one state: hand it on with `input="…"`, or write it into a file.';
    return [{ file: analysis.file, at: analysis.positionAt(use.offset), message, hint }];
  });
});

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
