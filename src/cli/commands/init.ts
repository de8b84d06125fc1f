import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXIT, errorCodeOf } from '../../errors.ts';
import { quoteShellArgument } from '../../render/format.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { chooseSchemas, FIRST_WORKFLOW } from '../first-workflow.ts';
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
