import { openConfig } from '../../config/config.ts';
import { type InForce, inForce } from '../../config/in-force.ts';
import { written } from '../../config/written.ts';
import { EXIT } from '../../errors.ts';
import { configFile } from '../../raymond/records.ts';
import type { Carry } from '../entry.ts';
import { pageOf } from '../page.ts';
import { type Column, tableOf } from '../table.ts';

/** `raymond config`: what is in force here, and where each value comes from. */
export const config: Carry = async (_args, { json }, terminal) => {
  const { cwd, out } = terminal;
  const file = configFile(cwd);
  const opened = openConfig(file);
  const { options, vars } = inForce(opened);
  if (json) {
    const document = { file, exists: opened !== null, options: byName(options), vars: byName(vars) };
    out(`${JSON.stringify(document, null, 2)}\n`);
    return EXIT.completed;
  }
  const rows = [...options, ...vars.map((row) => ({ ...row, name: `vars.${row.name}` }))];
  out(opened === null ? `There is no config file; \`raymond --init-config\` writes ${file}\n\n` : `${file}\n\n`);
  out(`${tableOf(rows, COLUMNS, pageOf(terminal)).join('\n')}\n`);
  out('\nOptions on the command line go before these. A run remembers those it was started with.\n');
  return EXIT.completed;
};

const byName = (rows: readonly InForce[]): Readonly<Record<string, Omit<InForce, 'name'>>> =>
  Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest]));

const COLUMNS: readonly Column<InForce>[] = [
  { title: 'OPTION', cell: ({ name }) => name },
  { title: 'FROM', cell: ({ line }) => (line === null ? 'default' : `line ${line}`), ink: inkOf },
  { title: 'VALUE', cell: ({ value, note }) => (value === null ? `(${note})` : written(value)), ink: inkOf },
];

function inkOf({ source }: InForce): 'dim' | null {
  return source === 'default' ? 'dim' : null;
}
