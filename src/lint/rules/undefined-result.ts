import { findStatesWithResult, findVariableUses } from '../../graph/variables.ts';
import { defineRule } from '../rule.ts';

/** A prompt uses `{{result}}`, and nothing ever passes one to it. */
export const undefinedResult = defineRule({ id: 'undefined-result', level: 'warning' }, (context) => {
  const withResult = findStatesWithResult(context.proof);
  return context.analyses.flatMap((analysis) => {
    const lacksResult = context.isReached(analysis.file) && !withResult.has(context.proof.flow.numberOf(analysis.file));
    if (analysis.kind !== 'prompt' || analysis.broken || !lacksResult) return [];
    const use = findVariableUses(analysis.source.state.text).find(({ name }) => name === 'result' || name === 'input');
    if (use === undefined) return [];
    const message = `nothing hands a {{${use.name}}} to ${analysis.file}: no call returns here, and no tag that leads here has an \`input\``;
    const hint = 'A result lives for one state: hand it on with `input="…"`, or write it into a file.';
    return [{ file: analysis.file, at: analysis.positionAt(use.offset), message, hint }];
  });
});
