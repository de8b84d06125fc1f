import { type EffectiveSetting, listEffectiveSettings, openConfig } from '../../config/config.ts';
import { formatTomlValue } from '../../config/toml.ts';
import { EXIT } from '../../errors.ts';
import { findConfigFile } from '../../runtime/project-files.ts';
import { createRenderContext } from '../../terminal/render-context.ts';
import { type Column, renderTable } from '../../terminal/table.ts';
import type { CommandHandler } from '../command.ts';

/** `raymond config`: shows the options in effect and where each value comes from. */
export const handleConfig: CommandHandler = async (_args, { json }, terminal) => {
  const { cwd, out } = terminal;
  const file = findConfigFile(cwd);
  const opened = openConfig(file);
  const { options, vars } = listEffectiveSettings(opened);
  if (json) {
    const document = { file, exists: opened !== null, options: indexByName(options), vars: indexByName(vars) };
    out(`${JSON.stringify(document, null, 2)}\n`);
    return EXIT.completed;
  }
  const rows = [...options, ...vars.map((row) => ({ ...row, name: `vars.${row.name}` }))];
  out(opened === null ? `There is no config file; \`raymond --init-config\` writes ${file}\n\n` : `${file}\n\n`);
  out(`${renderTable(rows, COLUMNS, createRenderContext(terminal)).join('\n')}\n`);
  out('\nThe command line overrides these. A run remembers the options it was started with.\n');
  return EXIT.completed;
};

const indexByName = (rows: readonly EffectiveSetting[]): Readonly<Record<string, Omit<EffectiveSetting, 'name'>>> =>
  Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest]));

const COLUMNS: readonly Column<EffectiveSetting>[] = [
  { title: 'OPTION', cell: ({ name }) => name },
  { title: 'FROM', cell: ({ line }) => (line === null ? 'default' : `line ${line}`), style: getSourceStyle },
  {
    title: 'VALUE',
    cell: ({ value, note }) => (value === null ? `(${note})` : formatTomlValue(value)),
    style: getSourceStyle,
  },
];

function getSourceStyle({ source }: EffectiveSetting): 'dim' | null {
  return source === 'default' ? 'dim' : null;
}
