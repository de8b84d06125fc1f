import { nearest } from '../../core/nearest.ts';
import { namedStates } from '../../core/policy.ts';
import { isBuiltInAttribute } from '../../core/tag.ts';
import { type TextPosition, WHOLE_FILE } from '../../core/text-position.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { defineRule, type RuleContext, type RuleFinding } from '../rule.ts';
import { findStrayFrontmatter, type StrayFrontmatter } from '../stray-frontmatter.ts';

/** Something in the frontmatter has no effect, such as a misspelt key, or the frontmatter as a whole has none. */
export const keyWithoutEffect = defineRule(
  { id: 'key-without-effect', level: 'warning', supersedes: ['no-shebang', 'unreachable-state'] },
  (context) =>
    context.analyses.flatMap((analysis) => [
      ...analysis.source.findings.flatMap(({ level, file, line, column, message }): RuleFinding[] => {
        if (level !== 'warning') return [];
        return [{ file, at: { line, column }, message, hint: 'Correct it, or remove it.' }];
      }),
      ...(context.isIntendedState(analysis) ? checkStrayFrontmatter(analysis) : []),
      ...checkEmptyPolicy(analysis),
      ...checkRepeatedEntries(analysis, context),
      ...checkMisspeltNext(analysis, context),
    ]),
);

function checkStrayFrontmatter(analysis: StateAnalysis): readonly RuleFinding[] {
  const stray = findStrayFrontmatter(analysis);
  if (stray === undefined) return [];
  const [message, hint] = STRAY_MESSAGES[stray.why];
  return [{ file: analysis.file, at: analysis.positionAt(stray.offset), message, hint }];
}

const STRAY_MESSAGES: Readonly<Record<StrayFrontmatter['why'], readonly [message: string, hint: string]>> = {
  script: [
    'a script has no frontmatter: these lines are run as commands',
    'Remove them; only a prompt has frontmatter.',
  ],
  unopened: [
    'this looks like frontmatter but has no effect: no `---` opens it',
    'Make the first line `---` and nothing else.',
  ],
  below: [
    'this looks like frontmatter but has no effect: it is not at the start of the file',
    'Move it to the start: the first line of the file must be `---`.',
  ],
};

/** Reports an empty policy, which permits everything. */
function checkEmptyPolicy({ file, source, broken, tags }: StateAnalysis): readonly RuleFinding[] {
  const at = source.keys.allowed_transitions;
  // A prompt without any tag is reported by `no-way-out`.
  if (at === undefined || broken || tags.length === 0 || source.state.rules.policy.length > 0) return [];
  const message = '`allowed_transitions` is empty, which permits every tag, as if the key were missing';
  return [{ file, at, message, hint: 'List what is permitted, or remove the key.', level: 'info' }];
}

/** Reports entries that permit the same as an earlier one. */
function checkRepeatedEntries({ file, source }: StateAnalysis, { names }: RuleContext): readonly RuleFinding[] {
  const firstPositions = new Map<string, TextPosition>();
  return source.state.rules.policy.flatMap((entry, index) => {
    const fileOf = (name: string): string => {
      const found = names.resolve(name);
      return found.kind === 'found' ? found.file : name;
    };
    const states = Object.fromEntries(namedStates(entry).map(([key, name]) => [key, fileOf(name)]));
    const signature = JSON.stringify([entry.tag, ...Object.entries({ ...entry.attributes, ...states }).sort()]);
    const at = source.entries[index]?.at ?? WHOLE_FILE;
    const earlier = firstPositions.get(signature);
    if (earlier === undefined) firstPositions.set(signature, at);
    if (earlier === undefined || entry.tag === 'fork') return [];
    const message = `this entry permits the same as the one on line ${earlier.line}`;
    return [{ file, at, message, hint: 'Remove one of them.' }];
  });
}

/** Reports a variable in the entry of a fork that names a state and is probably meant as its `next`. */
function checkMisspeltNext({ file, source }: StateAnalysis, { names }: RuleContext): readonly RuleFinding[] {
  return source.state.rules.policy.flatMap(({ tag, attributes }, index) => {
    if (tag !== 'fork' || attributes.next !== undefined) return [];
    const key = Object.keys(attributes).find((each) => {
      const isState = names.resolve(attributes[each] ?? '').kind === 'found';
      return isState && !isBuiltInAttribute(each) && nearest(each, ['next']) !== undefined;
    });
    if (key === undefined) return [];
    const message = `\`${key}\` counts as a variable of the worker (did you mean next?)`;
    return [{ file, at: source.entries[index]?.keys[key] ?? WHOLE_FILE, message, hint: 'Write `next`.' }];
  });
}
