import { editDistance, nearest } from '../../language/text/nearest.ts';
import { WHOLE_FILE } from '../../language/text/text-position.ts';
import { defineStateRule } from '../rule.ts';

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
