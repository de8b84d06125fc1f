import { basename } from 'node:path';
import type { Level } from '../../analysis/rule.ts';
import type { Platform } from '../../core/names.ts';
import { EXIT } from '../../errors.ts';
import { countLevels, type LintReport, lintWorkflow } from '../../raymond/lint.ts';
import { annotationOf } from '../annotations.ts';
import type { Carry, Words } from '../entry.ts';
import { lintPage, lintTotal } from '../lint-page.ts';
import { pageOf } from '../page.ts';
import { usage } from '../usage.ts';
import { allOf, choiceOf } from '../words.ts';

/** `raymond lint PATH…`: mistakes in workflows, before they cost money. */
export const lint: Carry = async (given, words, terminal) => {
  const paths = given.length > 1 ? given.filter(isNoReadme) : given;
  if (paths.length === 0) throw usage('there is no workflow to look at', 'Name a folder, a .zip or a state file.');
  const format = formatOf(words);
  const levels = LEVELS.slice(0, LEVELS.indexOf(choiceOf(words, 'level', LEVELS) ?? 'info') + 1);
  const platform = choiceOf(words, 'platform', PLATFORMS);
  const request = {
    cwd: terminal.cwd,
    variables: allOf(words, 'var').map((pair) => pair.split('=')[0] ?? pair),
    ...(platform !== undefined && { platform }),
  };
  const reports: LintReport[] = [];
  for (const path of paths) reports.push(await lintWorkflow(path, request));
  const { error } = countLevels(reports.flatMap(({ findings }) => findings));
  terminal.out(`${WRITERS[format](reports, levels, pageOf(terminal)).join('\n')}\n`);
  return error > 0 ? EXIT.invalid : EXIT.completed;
};

/** Who writes `workflows/*` means the workflows, not what is written about them. */
const isNoReadme = (path: string): boolean => basename(path).toLowerCase() !== 'readme.md';

const LEVELS: readonly Level[] = ['error', 'warning', 'info'];
const PLATFORMS: readonly Platform[] = ['unix', 'windows'];
const FORMATS = ['text', 'github'] as const;

type Writer = (
  reports: readonly LintReport[],
  levels: readonly Level[],
  page: ReturnType<typeof pageOf>,
) => readonly string[];

const WRITERS: Readonly<Record<(typeof FORMATS)[number] | 'json', Writer>> = {
  text: (reports, levels, page) => [
    ...reports.flatMap((report) => [...lintPage(report, levels, page), '']),
    lintTotal(reports, levels),
  ],
  github: (reports, levels) => [
    ...reports.flatMap(({ findings }) => findings.filter(({ level }) => levels.includes(level)).map(annotationOf)),
    lintTotal(reports, levels),
  ],
  json: (reports, levels) => [JSON.stringify(documentOf(reports, levels), null, 2)],
};

function formatOf(words: Words): keyof typeof WRITERS {
  const format = choiceOf(words, 'format', FORMATS);
  if (!words.json) return format ?? 'text';
  if (format !== undefined) throw usage(`--json and --format ${format} exclude each other`);
  return 'json';
}

/** All reports as one document. The counts are of everything that was found, whatever is shown. */
function documentOf(reports: readonly LintReport[], levels: readonly Level[]): unknown {
  const { error, warning, info } = countLevels(reports.flatMap(({ findings }) => findings));
  return {
    ok: error === 0,
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
