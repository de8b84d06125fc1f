import { CYCLE_RULES } from '../cycle-findings.ts';
import { defineStateRule } from '../rule.ts';

/** A script can come to its end without having printed a tag. */
export const silentPath = defineStateRule(
  { id: 'silent-path', level: 'warning', supersedes: ['unreachable-state', ...CYCLE_RULES] },
  (analysis, { graph }) => {
    const isExpected = analysis.source.state.rules.guards?.on.no_tag !== undefined;
    if (isExpected || (analysis.tags.length === 0 && analysis.unclosedTags.length === 0)) return [];
    // A gate that prints nothing confirms.
    if (graph.mereEvaluators.has(analysis.file)) return [];
    return (analysis.paths?.outputs ?? []).flatMap((output) => {
      if (output.kind !== 'nothing') return [];
      const { text } = analysis.source.state;
      const at = output.silentSince ?? Math.max(0, text.trimEnd().length - 1);
      const message = `the script can end without printing a tag, for example when ${describeSilence(text.slice(at))}`;
      const hint = 'Print exactly one transition on every path; there are no reminders for scripts.';
      return [{ at: analysis.positionAt(at), message, hint }];
    });
  },
);

/** Describes what happens where a tag could have been printed and was not. */
const describeSilence = (rest: string): string => CASES.find(([begin]) => begin.test(rest))?.[1] ?? 'it gets here';

const CASES: readonly (readonly [RegExp, string])[] = [
  [/^(?:exit|return)\b/, 'it exits here'],
  [/^if\b/, 'no condition of this `if` holds'],
  [/^case\b/, 'no pattern of this `case` fits'],
  [/^(?:for|while|until)\b/, 'this loop comes to its end'],
  [/^[^\n|&;]*&&/, 'this fails'],
  [/^[^\n|&;]*\|\|/, 'this succeeds'],
];
