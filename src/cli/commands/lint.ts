import { basename } from 'node:path';
import type { Level } from '../../analysis/rule.ts';
import { isNoNote, type Platform } from '../../core/names.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { countLevels, type LintReport, type LintRequest, lintWorkflow } from '../../raymond/lint.ts';
import { annotationOf } from '../annotations.ts';
import type { Carry, Words } from '../entry.ts';
import { workflowHere } from '../here.ts';
import { lintPage, lintTotal, type Wrap } from '../lint-page.ts';
import { type Page, pageOf } from '../page.ts';
import type { Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';
import { allOf, choiceOf, countOf, textOf } from '../words.ts';

/** `raymond lint [PATH…]`: mistakes in workflows, before they cost money. */
export const lint: Carry = async (given, words, terminal) => {
  const rule = textOf(words, 'explain');
  if (rule !== undefined) return explain(rule, terminal);
  // Who writes `workflows/*` means the workflows, not what is written about them.
  const named = given.length > 1 ? given.filter((path) => isNoNote(basename(path))) : given;
  if (given.length > 0 && named.length === 0) throw usage('there is no workflow to look at', WHAT_TO_NAME);
  const format = formatOf(words);
  const levels = LEVELS.slice(0, LEVELS.indexOf(choiceOf(words, 'level', LEVELS) ?? 'info') + 1);
  const platform = choiceOf(words, 'platform', PLATFORMS);
  const most = countOf(words, 'maxWarnings') ?? Number.POSITIVE_INFINITY;
  const request = {
    cwd: terminal.cwd,
    variables: allOf(words, 'var').map((pair) => pair.split('=')[0] ?? pair),
    ...(platform !== undefined && { platform }),
  };
  const paths = given.length > 0 ? named : [workflowHere(terminal.cwd, platform, WHAT_TO_NAME)];
  const { reports, wrong } = await lookAt(paths, request);
  const { error, warning } = countLevels(reports.flatMap(({ findings }) => findings));
  if (reports.length > 0) {
    const page = pageOf(terminal);
    terminal.out(`${WRITERS[format](reports, { levels, most }, page, await wrapFor(page)).join('\n')}\n`);
  }
  const [first, second] = wrong;
  if (first !== undefined) throw second === undefined ? first : usage(wrong.map(messageOf).join('\n'), first.hint);
  if (warning > most) terminal.err(`raymond: too many warnings: ${warning}, and --max-warnings allows ${most}\n`);
  if (error > 0) return EXIT.invalid;
  return warning > most ? EXIT.failed : EXIT.completed;
};

async function explain(rule: string, terminal: Terminal): Promise<number> {
  const { rulePage } = await import('../rule-page.ts');
  const page = pageOf(terminal);
  terminal.out(`${rulePage(rule, page.columns, await wrapFor(page)).join('\n')}\n`);
  return EXIT.completed;
}

/** A path that leads nowhere does not keep the others from being looked at. */
async function lookAt(paths: readonly string[], request: LintRequest) {
  const reports: LintReport[] = [];
  const wrong: RaymondError[] = [];
  for (const path of paths) {
    try {
      reports.push(await lintWorkflow(path, request));
    } catch (error) {
      if (!(error instanceof RaymondError) || error.exitCode !== EXIT.usage) throw error;
      wrong.push(error);
    }
  }
  return { reports, wrong };
}

/** Who knows how wide characters are takes longer to load than lint takes for a workflow; in a pipe nobody asks. */
const wrapFor = async ({ columns }: Page): Promise<Wrap> =>
  columns === Number.POSITIVE_INFINITY ? (text) => [text] : (await import('../../observers/fit.ts')).wrapped;

const messageOf = ({ message }: RaymondError): string => message;

const WHAT_TO_NAME = 'Name a folder, a .zip or a state file.';

const LEVELS: readonly Level[] = ['error', 'warning', 'info'];
const PLATFORMS: readonly Platform[] = ['unix', 'windows'];
const FORMATS = ['text', 'github'] as const;

/** Which levels are shown, and how many warnings are too many. */
interface Taste {
  readonly levels: readonly Level[];
  readonly most: number;
}

type Writer = (reports: readonly LintReport[], taste: Taste, page: Page, wrap: Wrap) => readonly string[];

const WRITERS: Readonly<Record<(typeof FORMATS)[number] | 'json', Writer>> = {
  text: (reports, { levels }, page, wrap) => [
    ...reports.flatMap((report) => [...lintPage(report, levels, page, wrap), '']),
    lintTotal(reports, levels),
  ],
  github: (reports, { levels }) => [
    ...reports.flatMap((report) =>
      report.findings.filter(({ level }) => levels.includes(level)).map((finding) => annotationOf(finding, report)),
    ),
    lintTotal(reports, levels),
  ],
  json: (reports, taste) => [JSON.stringify(documentOf(reports, taste), null, 2)],
};

function formatOf(words: Words): keyof typeof WRITERS {
  const format = choiceOf(words, 'format', FORMATS);
  if (!words.json) return format ?? 'text';
  if (format !== undefined) throw usage(`--json and --format ${format} exclude each other`);
  return 'json';
}

/** All reports as one document. The counts are of everything that was found, whatever is shown. */
function documentOf(reports: readonly LintReport[], { levels, most }: Taste): unknown {
  const { error, warning, info } = countLevels(reports.flatMap(({ findings }) => findings));
  return {
    ok: error === 0 && warning <= most,
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
