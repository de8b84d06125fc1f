import { BUILT_IN_ATTRIBUTES } from '../core/tag.ts';
import { stripTags } from '../core/tag-mentions.ts';
import type { PlacedTag, StateAnalysis } from '../graph/state-analysis.ts';
import type { StateResolver } from '../graph/state-resolver.ts';

/** What to say of a tag that names no state. */
export interface EmptyName {
  readonly shown: string;
  readonly hint: string;
}

/** Tells for the tags of a page that name no state what they should say; null for those that are only talk. */
export function explainEmptyNames(
  analysis: StateAnalysis,
  names: StateResolver,
): (placed: PlacedTag) => EmptyName | null {
  const isTalk = analysis.kind === 'prompt' ? detectTalk(analysis, names) : () => false;
  return ({ name, tag, at }) => {
    const own: readonly string[] = BUILT_IN_ATTRIBUTES;
    const misplaced = Object.entries(tag.attributes).find(
      ([key, value]) => !own.includes(key) && names.candidatesFor(value.trim()).length === 1,
    );
    if (misplaced !== undefined) {
      const [key, state] = misplaced;
      return { shown: `\`<${name} ${key}="${state}">\``, hint: `Write <${name}>${state.trim()}</${name}>.` };
    }
    if (isTalk(at)) return null;
    return { shown: `\`<${name}></${name}>\``, hint: 'Write the name of a state between the tags.' };
  };
}

const BEFORE = /(?:\b(?:an?|the|any|your|this|empty)\s*|`)$/i;
const AFTER = /^<[^<>]*>(?:<[^<>]*>)?(?:`|\s*tags?\b)/i;

/** "Answer with a <goto></goto> tag": the states are named elsewhere in the prompt, or in its policy. */
function detectTalk({ source }: StateAnalysis, names: StateResolver): (at: PlacedTag['at']) => boolean {
  const { text, rules } = source.state;
  let lines: readonly string[] | undefined;
  let namesStates: boolean | undefined;
  return ({ line, column }) => {
    lines ??= source.text.split('\n');
    const written = lines[line - 1] ?? '';
    if (BEFORE.test(written.slice(Math.max(0, column - 20), column - 1))) return true;
    if (rules.policy.length > 0 || AFTER.test(written.slice(column - 1, column + 99))) return true;
    namesStates ??= wordsIn(stripTags(text)).some((word) => names.candidatesFor(word).length > 0);
    return namesStates;
  };
}

const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*/gu) ?? [];
