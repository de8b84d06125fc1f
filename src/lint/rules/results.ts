import { findResultPlaces } from '../../graph/result-places.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import {
  findArrival,
  findResultPathUses,
  findStatesWithResult,
  findVariableUses,
  mayHandOver,
  type VariableUse,
} from '../../graph/variables.ts';
import { isJsonSchema, type JsonSchema } from '../../language/state.ts';
import { hasUnknownPart } from '../../language/tags/tag-mentions.ts';
import { startsWorkers } from '../../language/transitions/index.ts';
import { RUN_VARIABLES } from '../../language/variable-names.ts';
import { collapseAnyState, formatStepPath } from '../messages.ts';
import { defineRule, defineTagRule, type RuleContext, type RuleFinding } from '../rule.ts';
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

/** A join waits for workers that nothing in the workflow starts, or for a group that none of them has. */
export const nothingToJoin = defineTagRule({ id: 'nothing-to-join', level: 'warning' }, ({ name, tag }, _, context) => {
  if (name !== 'join') return [];
  const { graph } = context;
  // A state that may make other transitions may start workers, too.
  if (graph.nodes.some(({ open }) => open)) return [];
  if (!graph.edges.some((edge) => startsWorkers(edge.tag))) {
    return [
      {
        message: 'no state of this workflow starts workers, so there is nothing to join',
        hint: 'Put a <fork> or a <fork-each> beside it or before it, or write <goto>.',
      },
    ];
  }
  const { group } = tag.attributes;
  if (group === undefined || hasUnknownPart(group) || mayHaveGroup(group, context)) return [];
  const hint = `Give the workers group="${group}" on their <fork>, or leave it out here to join all of them.`;
  return [{ message: `no fork of this workflow sets group="${group}"`, hint }];
});

/** True if a fork may start workers of this group. */
function mayHaveGroup(group: string, { analyses }: RuleContext): boolean {
  return analyses
    .flatMap(({ expandedTags, unclosedTags }) => [...expandedTags, ...unclosedTags])
    .filter(({ name }) => startsWorkers(name))
    .some((placed) => {
      if (!('tag' in placed) || placed.name === 'fork-each') return true;
      const { attributes } = placed.tag;
      return attributes.group === group || Object.entries(attributes).some((pair) => pair.some(hasUnknownPart));
    });
}

/** Keywords that may add fields, or take some away: what they permit is not looked into. */
const OPEN_KEYWORDS = [
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'not',
  'patternProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'prefixItems',
  '$dynamicRef',
  'enum',
  'const',
];

/** References may lead round in a circle. */
const MAX_REFERENCES = 20;

/** True if a schema names the fields of a value, and this one is not among them. */
function lacksField(schema: JsonSchema, path: readonly string[]): boolean {
  let place: unknown = schema;
  let references = 0;
  for (const step of path) {
    while (isJsonSchema(place) && typeof place === 'object' && typeof place.$ref === 'string') {
      references += 1;
      if (references > MAX_REFERENCES) return false;
      place = resolveReference(schema, place.$ref);
    }
    if (
      !isJsonSchema(place) ||
      typeof place === 'boolean' ||
      OPEN_KEYWORDS.some((key) => Object.hasOwn(place as object, key))
    )
      return false;
    const { type, items, properties, additionalProperties } = place;
    if (typeof type === 'string' && !['object', 'array'].includes(type)) return true;
    if (isJsonSchema(properties) && typeof properties === 'object') {
      if (Object.hasOwn(properties, step)) place = properties[step];
      else return additionalProperties === undefined || additionalProperties === false;
    } else if (/^\d+$/.test(step)) place = items;
    else return type === 'array';
  }
  return false;
}

/** The part of a schema that a local reference leads to; undefined if it leads elsewhere. */
function resolveReference(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let place: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return undefined;
    place = (place as Readonly<Record<string, unknown>>)[name];
  }
  return place;
}
