import { findEvaluatorProblems, findForcedTransitionProblems } from '../../graph/evaluator-problems.ts';
import { sourceScope } from '../../graph/workflow-source.ts';
import { workflowNameOf } from '../../language/named-workflows.ts';
import { didYouMean } from '../../language/text/nearest.ts';
import { findAllowComments } from '../allow-comments.ts';
import { defineRule, defineStateRule } from '../rule.ts';

/** A script begins with a byte order mark, which its shell treats as part of the first command. */
export const byteOrderMark = defineStateRule({ id: 'byte-order-mark', level: 'warning' }, (analysis) => {
  const [line = ''] = analysis.source.state.text.split('\n', 1);
  const isShell = analysis.file.endsWith('.sh');
  if (!line.startsWith('\uFEFF') || !(isShell || analysis.file.endsWith('.bat'))) return [];
  const rest = line.slice(1).trim();
  const losesLine = rest !== '' && !(isShell && rest.startsWith('#'));
  const shell = isShell ? 'bash' : 'cmd';
  const message =
    `the script begins with an invisible byte order mark: ${shell} treats it as part of line 1` +
    (losesLine ? ' and does not run that line' : ' and complains about that line');
  const hint = 'Save the file as UTF-8 without a byte order mark (BOM).';
  return [{ at: analysis.positionAt(0), message, hint, level: losesLine ? 'error' : 'warning' }];
});

/** A prompt is empty. */
export const emptyPrompt = defineStateRule(
  { id: 'empty-prompt', level: 'warning', supersedes: ['no-way-out'] },
  (analysis) => {
    if (analysis.kind !== 'prompt' || analysis.broken || analysis.source.state.text.trim() !== '') return [];
    const message = 'the prompt is empty: Claude Code is sent nothing';
    return [
      {
        at: analysis.source.origin?.bodyAt ?? { line: 1, column: 1 },
        message,
        hint: 'Write what is to be done below the frontmatter.',
      },
    ];
  },
);

/** A state's file is not UTF-8 text, or cannot be read. */
export const notText = defineRule({ id: 'not-text', level: 'error', blocksStart: 'always' }, ({ workflow }) =>
  workflow.files.flatMap((file) => {
    if (file.kind !== 'unreadable') return [];
    const { file: name, at, message } = file;
    return [
      {
        file: name,
        at,
        message,
        hint: 'Save it as UTF-8 text that Raymond can read, or move it out of the workflow if it is not a state.',
      },
    ];
  }),
);

/** The frontmatter of a state or the manifest has an error; Raymond refuses to run the workflow. */
export const frontmatter = defineRule(
  { id: 'frontmatter', level: 'error', blocksStart: 'always', supersedes: ['unreachable-state'] },
  ({ workflow, analyses }) => {
    const findings = [...(workflow.findings ?? []), ...analyses.flatMap(({ source }) => source.findings)];
    const errors = findings.filter(({ level }) => level === 'error');
    return [
      ...errors.map(({ file, line, column, message }) => ({ file, at: { line, column }, message, hint: HINT })),
      ...analyses.flatMap(({ file, source }) =>
        findForcedTransitionProblems(source).map((problem) => ({ file, ...problem, hint: HINT })),
      ),
    ];
  },
);

const HINT = 'Correct it: the workflow cannot start until then.';

/** An evaluator cannot do what it says; Raymond refuses to run the workflow. */
export const badEvaluator = defineRule(
  { id: 'bad-evaluator', level: 'error', blocksStart: 'always', supersedes: ['unreachable-state'] },
  ({ workflow, analyses }) =>
    analyses.flatMap(({ file, source }) =>
      findEvaluatorProblems(source, sourceScope(workflow, workflowNameOf(file))).map(({ at, message }) => {
        return { file, at, message, hint: 'Correct it: the workflow cannot start until then.' };
      }),
    ),
);

/** A comment allows a rule that does not exist. */
export const unknownRule = defineStateRule({ id: 'unknown-rule', level: 'warning' }, (analysis, { ruleIds }) =>
  findAllowComments(analysis).flatMap(({ rule, at }) => {
    if (ruleIds.includes(rule)) return [];
    if (rule === '') {
      const message = 'the comment does not say which rule it allows';
      return [{ at, message, hint: 'Name the rule after `allow`, as the finding shows it.' }];
    }
    const message = `lint has no rule \`${rule}\`${didYouMean(rule, ruleIds)}`;
    return [{ at, message, hint: 'Correct it or remove it: it allows nothing.' }];
  }),
);
