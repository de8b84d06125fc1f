import { basename } from 'node:path';
import {
  countLevels,
  type LintReport,
  type LintRequest,
  lintWorkflow,
  listWorkflowsAt,
} from '../../app/workflows/lint-workflow.ts';
import type { LintDocument } from '../../documents/types.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { isNotDocFile } from '../../language/state-names.ts';
import { formatJson } from '../../language/text/json.ts';
import type { LintLevel } from '../../lint/rule.ts';
import { createRenderContext, type RenderContext, type Terminal } from '../../render/terminal/terminal.ts';
import { LINT_FORMATS, LINT_LEVELS } from '../choices.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import {
  getChoiceOption,
  getCountOption,
  getPlatformOption,
  getRepeatedOption,
  getTextOption,
  requireWorkflowHere,
} from '../parsed-options.ts';
import {
  formatAnnotation,
  formatLintTotal,
  renderLintReport,
  renderRuleExplanation,
  type TextWrapper,
} from '../reports/lint-report.ts';

/** `raymond lint [PATH…]`: finds mistakes in workflows before they cost money. */
export const handleLint: CommandHandler = async (args, options, terminal) => {
  const rule = getTextOption(options, 'explain');
  if (rule !== undefined) return explainRule(rule, terminal);
  // `workflows/*` also names the README beside the workflows.
  const workflowArgs = args.length > 1 ? args.filter((path) => isNotDocFile(basename(path))) : args;
  if (args.length > 0 && workflowArgs.length === 0) throw usageError('there is no workflow to check', PATH_HINT);
  const format = getFormat(options);
  const levels = LINT_LEVELS.slice(
    0,
    LINT_LEVELS.indexOf(getChoiceOption(options, 'level', LINT_LEVELS) ?? 'info') + 1,
  );
  const platform = getPlatformOption(options);
  const maxWarnings = getCountOption(options, 'maxWarnings') ?? Number.POSITIVE_INFINITY;
  const request = {
    cwd: terminal.cwd,
    env: terminal.env,
    variables: getRepeatedOption(options, 'var').map((pair) => pair.split('=')[0] ?? pair),
    ...(platform !== undefined && { platform }),
    root: getTextOption(options, 'root') ?? null,
  };
  const paths = args.length > 0 ? workflowArgs : [requireWorkflowHere(terminal.cwd, platform, PATH_HINT)];
  const { reports, errors } = await lintAll(paths, request);
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
  if (warning > maxWarnings) terminal.err(`raymond: ${warning} warnings, but --max-warnings allows ${maxWarnings}\n`);
  if (error > 0) return EXIT.invalid;
  return warning > maxWarnings ? EXIT.failed : EXIT.completed;
};

async function explainRule(rule: string, terminal: Terminal): Promise<number> {
  const context = createRenderContext(terminal);
  terminal.out(`${renderRuleExplanation(rule, context.columns, await loadTextWrapper(context)).join('\n')}\n`);
  return EXIT.completed;
}

/** Checks all paths; one that does not exist does not stop the others from being checked. */
async function lintAll(paths: readonly string[], request: LintRequest) {
  const reports: LintReport[] = [];
  const errors: RaymondError[] = [];
  const seen = new Set<string>();
  for (const path of paths.flatMap((each) => listWorkflowsAt(each, request.cwd ?? ''))) {
    try {
      const report = await lintWorkflow(path, request);
      // A workflow that several others call is checked with each of them.
      const findings = report.findings.filter((finding) => !seen.has(placeOf(finding)));
      for (const finding of findings) seen.add(placeOf(finding));
      reports.push({ ...report, findings });
    } catch (error) {
      if (!(error instanceof RaymondError) || error.exitCode !== EXIT.usage) throw error;
      errors.push(error);
    }
  }
  return { reports, errors };
}

const placeOf = ({ rule, file, line, column, message }: LintReport['findings'][number]): string =>
  JSON.stringify([rule, file, line, column, message]);

/** Loads text wrapping only for a terminal: it takes longer to load than lint takes for a workflow. */
const loadTextWrapper = async ({ columns }: RenderContext): Promise<TextWrapper> =>
  columns === Number.POSITIVE_INFINITY ? (text) => [text] : (await import('../../render/text-width.ts')).wrapText;

const messageOf = ({ message }: RaymondError): string => message;

const PATH_HINT = 'Name a folder, a .zip, a .yaml or a state file.';

/** The levels that are shown, and the number of warnings that is allowed. */
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

const FORMATTERS: Readonly<Record<(typeof LINT_FORMATS)[number] | 'json', LintFormatter>> = {
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
  json: (reports, outputOptions) => [formatJson(createLintDocument(reports, outputOptions), 2)],
};

function getFormat(options: ParsedOptions): keyof typeof FORMATTERS {
  const format = getChoiceOption(options, 'format', LINT_FORMATS);
  if (!options.json) return format ?? 'text';
  if (format !== undefined) throw usageError(`give --json or --format ${format}, not both`);
  return 'json';
}

/** All reports as one document. The counts include findings that are not shown. */
function createLintDocument(reports: readonly LintReport[], { levels, maxWarnings }: LintOutputOptions): LintDocument {
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
        .map(({ rule, level, preventsRun, file, line, column, message, hint, path: example }) => {
          return { rule, level, prevents_run: preventsRun, file, line, column, message, hint, example };
        }),
    })),
  };
}
