import { findResultPlaces } from '../../graph/result-places.ts';
import { findResultPathUses } from '../../graph/variables.ts';
import { defineRule, type RuleFinding } from '../rule.ts';
import { lacksField } from '../schema-fields.ts';

/** A prompt uses a field of a result, and the schema of a state that returns there does not have it. */
export const missingField = defineRule({ id: 'missing-field', level: 'warning' }, ({ analyses, analysisOf, proof }) => {
  const placesOf = findResultPlaces(proof);
  const reported = new Set<string>();
  return analyses.flatMap(({ file: from, source }): readonly RuleFinding[] => {
    const { resultSchema } = source.state;
    if (resultSchema === undefined) return [];
    return placesOf(from).returnsTo.flatMap((file) => {
      const analysis = analysisOf.get(file);
      if (analysis?.kind !== 'prompt' || analysis.broken) return [];
      return findResultPathUses(analysis.source.state.text).flatMap(({ name, offset }) => {
        const key = `${file} ${name}`;
        if (reported.has(key) || !lacksField(resultSchema, name.split('.').slice(1))) return [];
        reported.add(key);
        const message = `{{${name}}} is not set when ${from} returns here: its \`result_schema\` has no such field`;
        return [
          { file, at: analysis.positionAt(offset), message, hint: 'Correct the name, or add the field to the schema.' },
        ];
      });
    });
  });
});
