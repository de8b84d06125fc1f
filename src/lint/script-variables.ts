import { SAFE_NAME_PREFIX } from '../core/environment-names.ts';
import { nearest } from '../core/nearest.ts';
import { RUN_VARIABLES } from '../core/variables.ts';
import type { StateAnalysis } from '../graph/state-analysis.ts';
import type { RuleFinding } from './rule.ts';

/** The variables that Raymond sets for a script, besides RAYMOND_VAR_…; it removes all others that begin with RAYMOND_. */
const SCRIPT_VARIABLES: readonly string[] = [...Object.values(RUN_VARIABLES), 'RAYMOND_RESULT_FILE', 'RAYMOND_TURN'];

/** The syntax of a variable in each kind of script. */
const USES: Readonly<Record<string, RegExp>> = {
  sh: /\$\{?[#!]?(RAYMOND_\w+)/g,
  ps1: /\$\{?env:(RAYMOND_\w+)/gi,
  bat: /[%!](RAYMOND_\w+)[%!:]/gi,
};

/** Finds the variables that a script uses and nothing sets. */
export function findUnsetScriptVariables(analysis: StateAnalysis): readonly RuleFinding[] {
  if (analysis.kind !== 'script') return [];
  const text = analysis.source.state.text.replace(/^[ \t]*#.*$/gm, (comment) => ' '.repeat(comment.length));
  return [
    ...findUnknownVariables(analysis, text),
    ...(analysis.file.endsWith('.sh') ? findPromptNames(analysis, text) : []),
  ];
}

function findUnknownVariables(analysis: StateAnalysis, text: string): readonly RuleFinding[] {
  const seen = new Set<string>();
  const ending = analysis.file.slice(analysis.file.lastIndexOf('.') + 1);
  return [...text.matchAll(USES[ending] ?? /$^/g)].flatMap(({ index, 1: written = '' }): RuleFinding[] => {
    const name = ending === 'sh' ? written : written.toUpperCase();
    const isSet =
      SCRIPT_VARIABLES.includes(name) || name.startsWith(SAFE_NAME_PREFIX) || new RegExp(`\\b${name}=`).test(text);
    if (isSet || seen.has(name)) return [];
    seen.add(name);
    const meant = nearest(name, SCRIPT_VARIABLES);
    const message = `Raymond does not set \`${name}\`${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
    const hint =
      meant === undefined
        ? 'Other variables whose names begin with RAYMOND_ do not reach scripts: choose another name.'
        : `Write ${meant}.`;
    return [{ file: analysis.file, at: analysis.positionAt(index), message, hint }];
  });
}

/** Variables whose names in prompts a script uses by mistake; `state` is too common to be one. */
const { state: _, ...NAMES_IN_PROMPTS } = RUN_VARIABLES;

/** Commands that may set any variable, and languages that have variables of their own. */
const SETS_OTHERWISE =
  /(?:^|[\s;&|(])(?:source|\.|eval|declare|read|mapfile|perl|php|[gm]?awk|ruby|pwsh|jq|psql|envsubst)\s/m;

/** Finds variables with the names that prompts have for them, where neither the script nor another program sets them. */
function findPromptNames(analysis: StateAnalysis, text: string): readonly RuleFinding[] {
  if (SETS_OTHERWISE.test(text)) return [];
  return Object.entries(NAMES_IN_PROMPTS).flatMap(([word, meant]): RuleFinding[] => {
    const use = new RegExp(`\\$(?:${word}(?!\\w)|\\{${word}[}:%#/-])`).exec(text);
    // A name that occurs without a `$` may be set there.
    if (use === null || new RegExp(`(?<![\\w$<{/-])${word}(?![\\w>])`).test(text)) return [];
    const message = `nothing sets \`$${word}\` (did you mean $${meant}?)`;
    return [{ file: analysis.file, at: analysis.positionAt(use.index), message, hint: `Write "$${meant}".` }];
  });
}
