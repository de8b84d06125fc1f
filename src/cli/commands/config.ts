import { findConfigFile, findUserConfigFile, loadConfig } from '../../app/config/load-config.ts';
import { type EffectiveSetting, listEffectiveSettings } from '../../config/effective-settings.ts';
import { formatTomlValue } from '../../config/toml.ts';
import type { ConfigDocument } from '../../documents/types.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import { createRenderContext } from '../../render/terminal/terminal.ts';
import type { TextStyle } from '../../render/text-style.ts';
import type { CommandHandler } from '../command.ts';

/** `raymond config`: shows the options in effect and where each value comes from. */
export const handleConfig: CommandHandler = async (_args, { json }, terminal) => {
  const { cwd, env, out } = terminal;
  const loaded = loadConfig(cwd, env);
  const { options, vars } = listEffectiveSettings(loaded);
  const file = findConfigFile(cwd);
  const userFile = findUserConfigFile(env);
  if (json) {
    const document: ConfigDocument = {
      file,
      exists: loaded.project !== null,
      user_file: userFile,
      user_exists: loaded.user !== null,
      trusted: loaded.untrusted.length === 0,
      options: indexByName(options),
      vars: indexByName(vars),
    };
    out(`${formatJson(document, 2)}\n`);
    return EXIT.completed;
  }
  const rows = [...options, ...vars.map((row) => ({ ...row, name: `vars.${row.name}` }))];
  const hint = 'there is none; `raymond --init-config` writes one';
  out(`project: ${sanitizeLine(file)}${loaded.project === null ? ` (${hint})` : ''}\n`);
  if (userFile !== null) out(`user:    ${sanitizeLine(userFile)}${loaded.user === null ? ' (there is none)' : ''}\n`);
  out('\n');
  out(`${renderTable(rows, COLUMNS, createRenderContext(terminal)).join('\n')}\n`);
  if (loaded.untrusted.length > 0)
    out('\nWhat is not trusted is not in force, and runs are refused until you trust it: `raymond trust`.\n');
  out('\nThe command line overrides these. A run remembers the options it was started with.\n');
  return EXIT.completed;
};

const indexByName = (rows: readonly EffectiveSetting[]): Readonly<Record<string, Omit<EffectiveSetting, 'name'>>> =>
  Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest]));

const COLUMNS: readonly Column<EffectiveSetting>[] = [
  { title: 'OPTION', cell: ({ name }) => name },
  { title: 'FROM', cell: describeSource, style: getSourceStyle },
  {
    title: 'VALUE',
    cell: ({ value, note }) => (value === null ? `(${note})` : sanitizeLine(formatTomlValue(value))),
    style: getSourceStyle,
  },
];

function describeSource({ source, line, trusted }: EffectiveSetting): string {
  return line === null ? source : `${source}, line ${line}${trusted ? '' : ', not trusted'}`;
}

function getSourceStyle({ source, trusted }: EffectiveSetting): TextStyle | null {
  if (!trusted) return 'yellow';
  return source === 'default' ? 'dim' : null;
}
