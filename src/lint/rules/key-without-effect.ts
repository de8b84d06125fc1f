import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { GUARD_OUTCOMES, PROMPT_OUTCOMES } from '../../language/guards.ts';
import { namedStates } from '../../language/policy.ts';
import type { FileFinding } from '../../language/state.ts';
import { type TextPosition, WHOLE_FILE } from '../../language/text/text.ts';
import { isWorkflowTag, startsWorkers } from '../../language/transitions/index.ts';
import { defineRule, type RuleContext, type RuleFinding } from '../rule.ts';

/** Something in the frontmatter or the manifest has no effect, such as a misspelt key, or the frontmatter as a whole has none. */
export const keyWithoutEffect = defineRule(
  { id: 'key-without-effect', level: 'warning', supersedes: ['no-shebang', 'no-way-out', 'unreachable-state'] },
  (context) => [
    ...(context.workflow.findings ?? []).flatMap(toFinding),
    ...context.analyses.flatMap((analysis) => [
      ...analysis.source.findings.flatMap(toFinding),
      ...(context.isIntendedState(analysis) ? checkStrayFrontmatter(analysis) : []),
      ...checkEmptyPolicy(analysis),
      ...checkRepeatedEntries(analysis),
      ...findUselessGuards(analysis, context),
      ...checkEvaluatorKeys(analysis, context),
    ]),
  ],
);

function toFinding({ level, file, line, column, message }: FileFinding): readonly RuleFinding[] {
  return level === 'warning' ? [{ file, at: { line, column }, message, hint: 'Correct it, or remove it.' }] : [];
}

/** Reports frontmatter that is not on the first line, lacks its first line, or is in a script. */
function checkStrayFrontmatter({ file, kind, source, positionAt }: StateAnalysis): readonly RuleFinding[] {
  const { text } = source.state;
  const hasFrontmatter = text.length < source.text.length;
  const lines = hasFrontmatter ? [] : text.split('\n', MAX_LINES);
  const open = lines.findIndex((line) => FENCE.test(line));
  const close = lines.findIndex((line, index) => index > open && FENCE.test(line));
  const above = lines.slice(0, Math.max(0, open));
  const isBelow = close > open && above.every((line) => MAY_PRECEDE.test(line)) && isYaml(lines.slice(open + 1, close));
  const isUnopened = kind === 'prompt' && /^\w/.test(text) && isYaml(above);
  if (!isBelow && !isUnopened) return [];
  const offset = isBelow && open > 0 ? above.join('\n').length + 1 : 0;
  const [message, hint] = STRAY_MESSAGES[kind === 'script' ? 'script' : offset === 0 ? 'unopened' : 'below'];
  return [{ file, at: positionAt(offset), message, hint }];
}

const KEY =
  /^(?:allowed_transitions|model|effort|timeout|retry|max_visits|max_visits_per|stuck_after|stuck_files|permission_mode|allowed_tools|disallowed_tools|append_system_prompt)\s*:/;
/** A key with a value, an entry of a list, a comment, or a continuation of what stands above. */
const YAML = /^(?:[\w-]+:(?:\s|$)|\s|- |#|$)/;
const FENCE = /^\s*---\s*$/;
/** Blank lines, headings and comments. */
const MAY_PRECEDE = /^(?:\s*|#.*|<!--.*-->\s*)$/;
/** No frontmatter ends further down. */
const MAX_LINES = 200;

const isYaml = (lines: readonly string[]): boolean =>
  lines.some((line) => KEY.test(line)) && lines.every((line) => YAML.test(line));

const STRAY_MESSAGES = {
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
} as const;

/** Reports an empty policy, which permits everything. */
function checkEmptyPolicy({ file, source, broken, tags }: StateAnalysis): readonly RuleFinding[] {
  const at = source.keys.allowed_transitions;
  // A prompt without any tag is reported by `no-way-out`.
  if (at === undefined || broken || tags.length === 0 || source.state.rules.policy.length > 0) return [];
  const message = '`allowed_transitions` is empty, which permits every tag, as if the key were missing';
  return [{ file, at, message, hint: 'List what is permitted, or remove the key.', level: 'info' }];
}

/** The keys that say something about a state's own transitions. */
const TRANSITION_KEYS = ['allowed_transitions', 'force_implicit', 'max_visits', 'evaluator'];

/** Reports keys about transitions in a file that only evaluates the answers of states. */
function checkEvaluatorKeys({ file, source }: StateAnalysis, { graph }: RuleContext): readonly RuleFinding[] {
  if (!graph.mereEvaluators.has(file)) return [];
  const states = [...new Set(graph.evaluatorUses.filter((use) => use.file === file).map(({ state }) => state))];
  return TRANSITION_KEYS.flatMap((key) => {
    const at = source.keys[key];
    const message = `\`${key}\` has no effect in an evaluator: the rules of ${states.join(' and ')} apply`;
    return at === undefined ? [] : [{ file, at, message, hint: 'Remove it.' }];
  });
}

/** Reports entries that permit the same as an earlier one. */
function checkRepeatedEntries({ file, source, names }: StateAnalysis): readonly RuleFinding[] {
  const firstPositions = new Map<string, TextPosition>();
  return source.state.rules.policy.flatMap((entry, index) => {
    const states = Object.fromEntries(namedStates(entry).map(([key, name]) => [key, names.fileOf(name) ?? name]));
    const signature = JSON.stringify([
      entry.tag,
      entry.payload,
      isWorkflowTag(entry.tag) ? entry.target : null,
      ...Object.entries({ ...entry.attributes, ...states }).sort(),
    ]);
    const at = source.entries[index]?.at ?? WHOLE_FILE;
    const earlier = firstPositions.get(signature);
    if (earlier === undefined) firstPositions.set(signature, at);
    if (earlier === undefined || startsWorkers(entry.tag)) return [];
    const message = `this entry permits the same as the one on line ${earlier.line}`;
    return [{ file, at, message, hint: 'Remove one of them.' }];
  });
}

/** Finds guards of a state that can never do anything. */
function findUselessGuards({ file, kind, source }: StateAnalysis, { workflow }: RuleContext): readonly RuleFinding[] {
  const { maxVisits, guards } = source.state.rules;
  const lacksVisits = maxVisits === null ? 'without `max_visits`' : undefined;
  const lacksCount = guards?.stuck == null ? 'without `stuck_after`' : undefined;
  const isOutsideGit = workflow.isInRepository === false && guards?.stuck?.files === null;
  const why: Readonly<Record<string, string | undefined>> = {
    'on.max_visits': lacksVisits,
    'on.stuck': lacksCount,
    max_visits_per: lacksVisits,
    stuck_files: lacksCount,
    stuck_after: isOutsideGit ? 'outside of a git repository without `stuck_files`' : undefined,
    ...Object.fromEntries(
      GUARD_OUTCOMES.filter((outcome) => kind === 'script' && PROMPT_OUTCOMES.has(outcome)).map((outcome) => {
        return [`on.${outcome}`, 'in a script'];
      }),
    ),
  };
  return Object.entries(why).flatMap(([key, reason]): readonly RuleFinding[] => {
    const at = source.keys[key];
    if (at === undefined || reason === undefined) return [];
    return [{ file, at, message: `\`${key}\` has no effect ${reason}`, hint: HINTS[key] ?? REMOVE }];
  });
}

const REMOVE = 'Remove it.';

const HINTS: Readonly<Record<string, string>> = {
  'on.max_visits': 'Say with `max_visits` how often an agent may enter this state.',
  'on.stuck': 'Say with `stuck_after` how many visits in a row may end alike.',
  max_visits_per: 'Say with `max_visits` how often an agent may enter this state.',
  stuck_files: 'Say with `stuck_after` how many visits in a row may end alike.',
  stuck_after: 'Name the files that show progress: `stuck_files: [src/**]`.',
};
