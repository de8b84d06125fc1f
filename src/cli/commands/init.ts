import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXIT, errorCodeOf } from '../../errors.ts';
import { isStateFile } from '../../language/state-names.ts';
import { readPublishedSchema } from '../../package-files.ts';
import { quoteShellArgument } from '../../render/format.ts';
import { type CommandHandler, usageError } from '../command.ts';
import {
  createFolderWithParents,
  describeFolderContent,
  describeWriteError,
  findRaymondCommand,
} from '../new-folder.ts';

type Files = Readonly<Record<string, string>>;

/** `raymond init [DIR]`: writes a first workflow to read, try and change, or only the schemas. Only schemas replace files. */
export const handleInit: CommandHandler = async ([requestedDir], options, terminal) => {
  const dir = (requestedDir ?? (options.schemas ? '.' : 'workflows/first')).replace(/(?<=.)\/+$/, '');
  const folder = resolve(terminal.cwd, dir);
  const files = options.schemas ? chooseSchemas(folder) : FIRST_WORKFLOW;
  try {
    if (options.schemas) overwriteSchemas(folder, dir, files);
    else writeFirstWorkflow(folder, dir, files);
  } catch (error) {
    if (errorCodeOf(error) === '') throw error;
    throw usageError(`${dir} cannot be written: ${describeWriteError(error)}`, 'Name another folder: raymond init DIR');
  }
  terminal.out(`Wrote ${dir}: ${Object.keys(files).join(', ')}\n`);
  if (!options.schemas) terminal.out(`\n${formatNextSteps(dir, findRaymondCommand(terminal.cwd, terminal))}`);
  return EXIT.completed;
};

function writeFirstWorkflow(folder: string, dir: string, files: Files): void {
  const content = describeFolderContent(folder, (name) => !name.startsWith('.'));
  if (content !== null) throw usageError(`${dir} is not empty: ${content}`, OTHER_FOLDER_HINT);
  createFolderWithParents(folder);
  writeFiles(folder, files, 'wx');
}

function overwriteSchemas(folder: string, dir: string, files: Files): void {
  if (!existsSync(folder)) throw usageError(`there is no folder ${dir}`, 'Name the folder of a workflow.');
  writeFiles(folder, files, 'w');
}

function writeFiles(folder: string, files: Files, flag: 'w' | 'wx'): void {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { flag, mode: name.endsWith('.sh') ? 0o777 : 0o666 });
  }
}

const OTHER_FOLDER_HINT = 'A workflow needs a folder of its own. Nothing was written; name another: raymond init DIR';

function formatNextSteps(dir: string, raymond: string): string {
  // A bare name could be taken for a command.
  const path = /^\.|\//.test(dir) ? dir : `./${dir}`;
  return `Read it:   start with ${dir}/START.md; comments explain everything
Try it:    ${raymond} ${quoteShellArgument(path)} --agent ${quoteShellArgument(`replay:${path}/answers.yaml`)}
Check it:  ${raymond} lint ${quoteShellArgument(path)}      (finds mistakes in its files)
Test it:   ${raymond} test ${quoteShellArgument(path)}      (runs the scenario in ${dir}/tour.test.yaml)
Run it:    ${raymond} ${quoteShellArgument(path)} --budget 1      (with Claude Code; \`${raymond} doctor\` checks that it is ready)
`;
}

/** A comment that points editors to a schema. The schema is next to the file, because no other place is sure to exist. */
const formatSchemaReference = (schema: 'frontmatter' | 'scenario'): string =>
  `# yaml-language-server: $schema=./${schema}.schema.json\n`;

const addSchemaReference = (prompt: string): string =>
  prompt.replace('---\n', `---\n${formatSchemaReference('frontmatter')}`);

/** Canned answers: the first tour has a mistake in it, so that the loop is taken. */
const ANSWERS = `${formatSchemaReference('scenario')}# Canned answers for each state, so that nothing is paid: raymond FOLDER --agent replay:FOLDER/answers.yaml
# Only the answers are canned: scripts run, files are written, costs are counted.
answers:
  START.md:
    text: TOUR.md is written.
    uses: [Glob *, Read README.md]
    write:
      TOUR.md: |
        # A tour

        ## no/such/file

        The script will find that there is no such file, and send the agent to FIX.md.
    cost: 0.03
    seconds: 2
  FIX.md:
    text: That stop did not exist. I have put another in its place. <goto>CHECK</goto>
    write:
      TOUR.md: |
        # A tour

        ## .

        This folder. The tour was written by canned answers; Claude Code would have looked around.
    cost: 0.02
    seconds: 2
  REPORT.md:
    text: <result>A folder whose tour was written by canned answers.</result>
    cost: 0.01
    seconds: 1
`;

/** A test: the same answers, and what is expected of the run. */
const SCENARIO = `${formatSchemaReference('scenario')}# A test: what a run with the canned answers should do. It costs nothing: raymond test FOLDER
name: a stop that does not exist is corrected
answers_from: answers.yaml
expect:
  # The states that are entered, in order.
  path: [START, CHECK, FIX, CHECK, REPORT]
  # The prompts as Claude gets them: {{result}} is replaced by what the script says.
  prompts:
    FIX: { contains: "says: no/such/file does not exist.", lacks: "{{" }
  files:
    TOUR.md: { lacks: no/such/file }
  result: A folder whose tour was written by canned answers.
`;

/** A prompt with one possible transition. */
const START_PROMPT = `---
# A workflow starts in START.md. What stands between the lines of dashes is for Raymond; Claude sees only the text below.
# Where this state may lead. There is only one way, so the answer needs no tag.
allowed_transitions:
  - { tag: goto, target: CHECK }
---
Look around in this folder and write TOUR.md, a tour of it for somebody who is new here. If there is a TOUR.md already,
bring it up to date.

Choose one to five files that should be read first, in a good order. Each is a stop of the tour, written like this:

## path/to/the/file

Two or three sentences: what it is for, and what to notice in it.

Paths are relative to this folder. Use headings with ## for stops only.

Stop when TOUR.md is written. Change no other file. Do not check the paths yet; that is the next step.
`;

/** A script that decides, and sends the agent back if it must. */
const CHECK_SCRIPT = `#!/bin/bash
# What needs no judgement belongs in a script: it costs nothing and always decides the same way.
# It runs in the folder that the run works in. It must print one tag, whichever way it goes; what is meant for people
# goes to standard error: echo "..." >&2

problems=""
if [ ! -s TOUR.md ]; then
  problems="TOUR.md is missing or empty."
else
  stops=$(grep -c '^## ' TOUR.md)
  if [ "$stops" -lt 1 ] || [ "$stops" -gt 5 ]; then
    problems="TOUR.md has $stops stops; it should have one to five."
  fi
  while read -r path || [ -n "$path" ]; do
    [ -e "$path" ] || problems="\${problems:+$problems }$path does not exist."
  done < <(sed -n 's/^## //p' TOUR.md | tr -d '\`')
fi

if [ -z "$problems" ]; then
  echo "<goto>REPORT.md</goto>"
else
  # The file is {{result}} in FIX.md. An attribute input="..." would end at the first quote in the text.
  printf '%s' "$problems" > problems.txt
  echo "<goto input-file='problems.txt'>FIX.md</goto>"
fi
`;

/** The same for Windows. */
const CHECK_BATCH_FILE = `@echo off
rem What needs no judgement belongs in a script: it costs nothing and always decides the same way.
rem It runs in the folder that the run works in. It must print one tag, whichever way it goes; what is meant for people
rem goes to standard error: echo ... 1>&2

set "problems="
set stops=0
if not exist TOUR.md set "problems=TOUR.md is missing."
if exist TOUR.md for /f "usebackq tokens=1*" %%a in (TOUR.md) do if "%%a"=="##" call :stop "%%b"
if not defined problems if %stops% lss 1 set "problems=TOUR.md has no stops; it should have one to five."
if not defined problems if %stops% gtr 5 set "problems=TOUR.md has %stops% stops; it should have one to five."
if defined problems goto problems
rem A caret keeps the sign after it from being taken for a redirection.
echo ^<goto^>REPORT.md^</goto^>
exit /b 0

:problems
rem The file is {{result}} in FIX.md. An attribute input="..." would end at the first quote in the text.
> problems.txt echo %problems%
echo ^<goto input-file='problems.txt'^>FIX.md^</goto^>
exit /b 0

:stop
set /a stops=stops+1
if exist "%~1" exit /b 0
if defined problems set "problems=%problems% %~1 does not exist."
if not defined problems set "problems=%~1 does not exist."
exit /b 0
`;

/** A prompt that has to choose, in a loop that ends. */
const FIX_PROMPT = `---
# Every loop needs an end: instead of a fourth visit to this state, the run stops (exit code 4).
max_visits: 3
# There are two ways, so the answer must choose one by its tag. If Claude forgets it, Raymond reminds it.
allowed_transitions:
  - { tag: goto, target: CHECK }
  - { tag: result }
---
A script has looked at TOUR.md and says: {{result}}

Put that right in TOUR.md. Change no other file. Do not sum up the tour yet; that comes later.

When it is right, answer with <goto>CHECK</goto> so that it is checked once more.
If it cannot be put right, answer with <result>no tour: REASON</result>.
`;

/** A prompt that ends the run. */
const REPORT_PROMPT = `---
# No other state called this one, so its result ends the run. It is printed at the end.
allowed_transitions:
  - { tag: result }
---
Every file in TOUR.md exists. Now say in one sentence what one finds in this folder. Change no file.

Answer with <result>THE SENTENCE</result>.
`;

/** cmd.exe needs them: with other line ends it misses labels. */
const toWindowsLines = (text: string): string => text.replaceAll('\n', '\r\n');

/** The schemas by which an editor checks the files of the first workflow. */
const WORKFLOW_SCHEMAS: Readonly<Record<string, string>> = {
  'frontmatter.schema.json': readPublishedSchema('frontmatter'),
  'scenario.schema.json': readPublishedSchema('scenario'),
};

/** Chooses the schemas for a folder: that of the config file, or those of a workflow. */
export function chooseSchemas(folder: string): Readonly<Record<string, string>> {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const isConfig = files.includes('config.toml') && !files.some(isStateFile);
  if (isConfig) return { 'config.schema.json': readPublishedSchema('config') };
  return { ...WORKFLOW_SCHEMAS, 'workflow.schema.json': readPublishedSchema('workflow') };
}

/**
 * The workflow that `raymond init` writes: a prompt, a script that may loop back, and a result. A prompt is sent as it
 * stands, comments included, so the comments for its author stand in the frontmatter.
 */
export const FIRST_WORKFLOW: Readonly<Record<string, string>> = {
  'START.md': addSchemaReference(START_PROMPT),
  ...(process.platform === 'win32' ? { 'CHECK.bat': toWindowsLines(CHECK_BATCH_FILE) } : { 'CHECK.sh': CHECK_SCRIPT }),
  'FIX.md': addSchemaReference(FIX_PROMPT),
  'REPORT.md': addSchemaReference(REPORT_PROMPT),
  'answers.yaml': ANSWERS,
  'tour.test.yaml': SCENARIO,
  ...WORKFLOW_SCHEMAS,
};
