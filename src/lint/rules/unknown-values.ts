import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { findEffortProblem, findModelProblem, findPermissionModeProblem } from '../../language/claude-values.ts';
import { hasUnknownPart } from '../../language/tags/tag-mentions.ts';
import { editDistance, nearest } from '../../language/text/nearest.ts';
import { type TextPosition, WHOLE_FILE } from '../../language/text/text.ts';
import { defineStateRule } from '../rule.ts';

/** A model or an effort that a state asks for. */
interface RequestedPreference {
  readonly value: string;
  readonly at: TextPosition;
}

/** Finds every model, or every effort, that a state's file names: in its frontmatter, its policy and its tags. */
function findPreferences({ source, tags }: StateAnalysis, key: 'model' | 'effort'): readonly RequestedPreference[] {
  const { state, keys, entries } = source;
  const ofState = state[key];
  const requested = [
    ...(ofState === null ? [] : [{ value: ofState, at: keys[key] ?? WHOLE_FILE }]),
    ...state.rules.policy.flatMap(({ attributes }, index) => {
      const value = attributes[key];
      return value === undefined ? [] : [{ value, at: entries[index]?.keys[key] ?? WHOLE_FILE }];
    }),
    ...tags.flatMap(({ tag, at, sure }) => {
      const value = tag.attributes[key]?.trim();
      return value === undefined || value === '' || !sure ? [] : [{ value, at }];
    }),
  ];
  const seen = new Set<string>();
  return requested.filter(({ value }) => !hasUnknownPart(value) && !seen.has(value) && seen.add(value));
}

/** A state asks for an effort that Claude Code does not know. */
export const unknownEffort = defineStateRule({ id: 'unknown-effort', level: 'warning' }, (analysis) =>
  findPreferences(analysis, 'effort').flatMap(({ value, at }) => {
    const problem = findEffortProblem(value);
    return problem === undefined ? [] : [{ at, message: problem.message, hint: problem.hint }];
  }),
);

/** A state asks for a permission mode that Claude Code does not know. */
export const unknownMode = defineStateRule({ id: 'unknown-mode', level: 'warning' }, ({ source }) => {
  const { permissionMode: mode } = source.state;
  const problem = mode === null ? undefined : findPermissionModeProblem(mode);
  if (problem === undefined) return [];
  return [{ at: source.keys.permission_mode ?? WHOLE_FILE, message: problem.message, hint: problem.hint }];
});

/** A state asks for a model that Claude Code probably does not know. */
export const unknownModel = defineStateRule({ id: 'unknown-model', level: 'warning' }, (analysis) =>
  findPreferences(analysis, 'model').flatMap(({ value, at }) => {
    const problem = findModelProblem(value);
    return problem === undefined ? [] : [{ at, message: problem.message, hint: problem.hint }];
  }),
);

/** Tools that Claude Code has or had. There are others, also from servers, so only names close to one of these are reported. */
const KNOWN_TOOLS =
  `Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode ExitPlanMode Glob Grep KillShell LS LSP MultiEdit
  NotebookEdit NotebookRead Read Skill SlashCommand Task TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate
  TeamCreate TeamDelete TodoWrite ToolSearch WebFetch WebSearch Write`.split(/\s+/);

/** Words that differ in more letters are other words. */
const MAX_DISTANCE = 2;

/** Splits a text with several rules as Claude Code does: at commas and blanks outside of brackets. */
const splitRules = (text: string): readonly string[] => text.split(/[\s,]+(?![^(]*\))/);

/** The name of a tool is misspelt, so that the rule about it applies to no tool. */
export const unknownTool = defineStateRule({ id: 'unknown-tool', level: 'warning' }, ({ source }) => {
  const { allowedTools, disallowedTools } = source.state;
  const lists = { allowed_tools: allowedTools, disallowed_tools: disallowedTools };
  return Object.entries(lists).flatMap(([key, rules]) =>
    (rules ?? []).flatMap(splitRules).flatMap((rule) => {
      const [name = ''] = rule.split('(', 1);
      const suggestion = KNOWN_TOOLS.includes(name) ? undefined : nearest(name, KNOWN_TOOLS);
      if (suggestion === undefined || editDistance(name.toLowerCase(), suggestion.toLowerCase()) > MAX_DISTANCE)
        return [];
      const message = `the tool \`${name}\` is unknown (did you mean ${suggestion}?)`;
      return [{ at: source.keys[key] ?? WHOLE_FILE, message, hint: `Change it to ${suggestion}.` }];
    }),
  );
});
