import { basename } from 'node:path';
import { isNotDocFile, type Platform } from '../../core/state-names.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import type { LintLevel } from '../../lint/rule.ts';
import { countLevels, type LintReport, type LintRequest, lintWorkflow } from '../../runtime/lint-workflow.ts';
import { createRenderContext, type RenderContext } from '../../terminal/render-context.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { CommandHandler, ParsedOptions } from '../command.ts';
import { getChoiceOption, getCountOption, getRepeatedOption, getTextOption } from '../parsed-options.ts';
import { formatAnnotation, formatLintTotal, renderLintReport, type TextWrapper } from '../reports/lint-report.ts';
import { usageError } from '../usage-error.ts';
import { requireWorkflowHere } from '../workflow-in-folder.ts';

/** `raymond lint [PATH…]`: mistakes in workflows, before they cost money. */
export const handleLint: CommandHandler = async (args, options, terminal) => {
  const rule = getTextOption(options, 'explain');
  if (rule !== undefined) return explainRule(rule, terminal);
  // Who writes `workflows/*` means the workflows, not what is written about them.
  const workflowArgs = args.length > 1 ? args.filter((path) => isNotDocFile(basename(path))) : args;
  if (args.length > 0 && workflowArgs.length === 0) throw usageError('there is no workflow to look at', PATH_HINT);
  const format = getFormat(options);
  const levels = LEVELS.slice(0, LEVELS.indexOf(getChoiceOption(options, 'level', LEVELS) ?? 'info') + 1);
  const platform = getChoiceOption(options, 'platform', PLATFORMS);
  const maxWarnings = getCountOption(options, 'maxWarnings') ?? Number.POSITIVE_INFINITY;
  const request = {
    cwd: terminal.cwd,
    variables: getRepeatedOption(options, 'var').map((pair) => pair.split('=')[0] ?? pair),
    ...(platform !== undefined && { platform }),
  };
  const paths = args.length > 0 ? workflowArgs : [requireWorkflowHere(terminal.cwd, platform, PATH_HINT)];
  const { reports, wrong: errors } = await lintAll(paths, request);
  const { error, warning } = countLevels(reports.flatMap(({ findings }) => findings));
  if (reports.length > 0) {
    const context = createRenderContext(terminal);
    terminal.out(
      `${FORMATTERS[format](reports, { levels, maxWarnings }, context, await loadTextWrapper(context)).join('\n')}\n`,
    );
  }
  const [first, second] = errors;
  if (first !== undefined)
    throw second === undefined ? first : usageError(errors.map(messageOf).join('\n'), first.hint);
  if (warning > maxWarnings)
    terminal.err(`raymond: too many warnings: ${warning}, and --max-warnings allows ${maxWarnings}\n`);
  if (error > 0) return EXIT.invalid;
  return warning > maxWarnings ? EXIT.failed : EXIT.completed;
};

async function explainRule(rule: string, terminal: Terminal): Promise<number> {
  const { renderRuleExplanation: rulePage } = await import('../reports/rule-explanation.ts');
  const context = createRenderContext(terminal);
  terminal.out(`${rulePage(rule, context.columns, await loadTextWrapper(context)).join('\n')}\n`);
  return EXIT.completed;
}

/** A path that leads nowhere does not keep the others from being looked at. */
async function lintAll(paths: readonly string[], request: LintRequest) {
  const reports: LintReport[] = [];
  const errors: RaymondError[] = [];
  for (const path of paths) {
    try {
      reports.push(await lintWorkflow(path, request));
    } catch (error) {
      if (!(error instanceof RaymondError) || error.exitCode !== EXIT.usage) throw error;
      errors.push(error);
    }
  }
  return { reports, wrong: errors };
}

/** Who knows how wide characters are takes longer to load than lint takes for a workflow; in a pipe nobody asks. */
const loadTextWrapper = async ({ columns }: RenderContext): Promise<TextWrapper> =>
  columns === Number.POSITIVE_INFINITY ? (text) => [text] : (await import('../../events/text-width.ts')).wrapText;

const messageOf = ({ message }: RaymondError): string => message;

const PATH_HINT = 'Name a folder, a .zip or a state file.';

const LEVELS: readonly LintLevel[] = ['error', 'warning', 'info'];
const PLATFORMS: readonly Platform[] = ['unix', 'windows'];
const FORMATS = ['text', 'github'] as const;

/** Which levels are shown, and how many warnings are too many. */
interface LintOutputOptions {
  readonly levels: readonly LintLevel[];
  readonly maxWarnings: number;
}

type LintFormatter = (
  reports: readonly LintReport[],
  outputOptions: LintOutputOptions,
  context: RenderContext,
  wrap: TextWrapper,
) => readonly string[];

const FORMATTERS: Readonly<Record<(typeof FORMATS)[number] | 'json', LintFormatter>> = {
  text: (reports, { levels }, context, wrap) => [
    ...reports.flatMap((report) => [...renderLintReport(report, levels, context, wrap), '']),
    formatLintTotal(reports, levels),
  ],
  github: (reports, { levels }) => [
    ...reports.flatMap((report) =>
      report.findings.filter(({ level }) => levels.includes(level)).map((finding) => formatAnnotation(finding, report)),
    ),
    formatLintTotal(reports, levels),
  ],
  json: (reports, outputOptions) => [JSON.stringify(createLintDocument(reports, outputOptions), null, 2)],
};

function getFormat(options: ParsedOptions): keyof typeof FORMATTERS {
  const format = getChoiceOption(options, 'format', FORMATS);
  if (!options.json) return format ?? 'text';
  if (format !== undefined) throw usageError(`--json and --format ${format} exclude each other`);
  return 'json';
}

/** All reports as one document. The counts are of everything that was found, whatever is shown. */
function createLintDocument(reports: readonly LintReport[], { levels, maxWarnings }: LintOutputOptions): unknown {
  const { error, warning, info } = countLevels(reports.flatMap(({ findings }) => findings));
  return {
    ok: error === 0 && warning <= maxWarnings,
    errors: error,
    warnings: warning,
    infos: info,
    workflows: reports.map(({ name, path, findings }) => ({
      name,
      path,
      findings: findings
        .filter(({ level }) => levels.includes(level))
        .map(({ rule, level, file, line, column, message, hint, path: example }) => {
          return { rule, level, file, line, column, message, hint, example };
        }),
    })),
  };
}
