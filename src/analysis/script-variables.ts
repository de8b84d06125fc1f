import { nearest } from '../core/nearest.ts';
import type { Page } from './page.ts';
import type { Fault } from './rule.ts';

/** What Raymond puts into the environment of a script; it takes away all others of this kind. */
const GIVEN = ['RESULT', 'INPUT', 'RESULT_FILE', 'STATE', 'AGENT_ID', 'WORKFLOW_ID', 'TURN'].map(
  (name) => `RAYMOND_${name}`,
);

/** How a script of each kind asks for a variable. */
const USES: Readonly<Record<string, RegExp>> = {
  sh: /\$\{?[#!]?(RAYMOND_\w+)/g,
  ps1: /\$\{?env:(RAYMOND_\w+)/gi,
  bat: /[%!](RAYMOND_\w+)[%!:]/gi,
};

/** The variables that a script asks for and that nobody sets. */
export function unsetInScript(page: Page): readonly Fault[] {
  if (page.kind !== 'script') return [];
  const text = page.source.state.text.replace(/^[ \t]*#.*$/gm, (comment) => ' '.repeat(comment.length));
  return [...unknownIn(page, text), ...(page.file.endsWith('.sh') ? wordsIn(page, text) : [])];
}

function unknownIn(page: Page, text: string): readonly Fault[] {
  const seen = new Set<string>();
  const ending = page.file.slice(page.file.lastIndexOf('.') + 1);
  return [...text.matchAll(USES[ending] ?? /$^/g)].flatMap(({ index, 1: written = '' }): Fault[] => {
    const name = ending === 'sh' ? written : written.toUpperCase();
    const isSet = GIVEN.includes(name) || new RegExp(`\\b${name}=`).test(text);
    if (isSet || seen.has(name)) return [];
    seen.add(name);
    const meant = nearest(name, GIVEN);
    const message = `Raymond sets no \`${name}\`${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
    const hint =
      meant === undefined
        ? 'No other variable whose name begins with RAYMOND_ gets to a script: give it another name.'
        : `Write ${meant}.`;
    return [{ file: page.file, at: page.place(index), message, hint }];
  });
}

/** What prompts call by these names has others in a script. */
const WORDS: Readonly<Record<string, string>> = {
  result: 'RAYMOND_RESULT',
  input: 'RAYMOND_INPUT',
  agent_id: 'RAYMOND_AGENT_ID',
  workflow_id: 'RAYMOND_WORKFLOW_ID',
};

/** Commands that may set any variable, and languages that have variables of their own. */
const SETS_OTHERWISE =
  /(?:^|[\s;&|(])(?:source|\.|eval|declare|read|mapfile|perl|php|[gm]?awk|ruby|pwsh|jq|psql|envsubst)\s/m;

/** Names of prompts that a script asks for and never sets, nor lets another file or program set. */
function wordsIn(page: Page, text: string): readonly Fault[] {
  if (SETS_OTHERWISE.test(text)) return [];
  return Object.entries(WORDS).flatMap(([word, meant]): Fault[] => {
    const use = new RegExp(`\\$(?:${word}(?!\\w)|\\{${word}[}:%#/-])`).exec(text);
    // A name that stands anywhere by itself may be set there.
    if (use === null || new RegExp(`(?<![\\w$<{/-])${word}(?![\\w>])`).test(text)) return [];
    const message = `nothing sets \`$${word}\` (did you mean $${meant}?)`;
    return [{ file: page.file, at: page.place(use.index), message, hint: `Write "$${meant}".` }];
  });
}
