import { implicitTag, namedStates } from '../../language/policy.ts';
import { formatPolicyTag } from '../../language/reminder.ts';
import { WHOLE_FILE } from '../../language/text/text-position.ts';
import { startsWorkers } from '../../language/transitions/index.ts';
import { defineStateRule } from '../rule.ts';

/** A state makes its only transition even if the agent does not say it. */
export const implicitTransition = defineStateRule(
  { id: 'implicit-transition', level: 'info' },
  (analysis, { graph }) => {
    const { names } = analysis;
    const { policy } = analysis.source.state.rules;
    const [entry] = policy;
    // A script has to print its tag.
    if (analysis.kind === 'script') return [];
    if (analysis.broken || entry === undefined || implicitTag(policy) === undefined) return [];
    if (graph.mereEvaluators.has(analysis.file)) return [];
    if (namedStates(entry).some(([, name]) => names.resolve(name).kind !== 'found')) return [];
    const message = `\`${formatPolicyTag(entry)}\` is taken even if the agent does not say it: it is the only transition here`;
    const worker =
      ' One worker starts, with only the variables that the `allowed_transitions` give; for more, the prompt has to ask for the tags.';
    const hint = `The prompt does not have to ask for a tag; it only has to say when to stop.${startsWorkers(entry.tag) ? worker : ''}`;
    return [{ at: analysis.source.entries[0]?.at ?? WHOLE_FILE, message, hint }];
  },
);
