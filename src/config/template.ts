import { SETTINGS, type Setting } from './settings.ts';
import { formatTomlValue } from './toml.ts';

/** A config file with every option explained and none set: an option is a `#` without a blank behind it. */
export function configTemplate(): string {
  const options = Object.entries(SETTINGS).map(([name, setting]) => formatSetting(name, setting));
  return `${HEADER}\n[raymond]\n\n${options.join('\n')}\n${VARS_SECTION}`;
}

function formatSetting(name: string, { purpose, sample, whenOmitted }: Setting): string {
  const without = whenOmitted === null ? '' : `# Without it: ${whenOmitted}.\n`;
  return `# ${purpose}\n${without}#${name} = ${formatTomlValue(sample)}\n`;
}

/** The schema stands beside the file, so that the reference holds wherever Raymond is installed. */
export const CONFIG_SCHEMA_FILE = 'config.schema.json';

const HEADER = `#:schema ./${CONFIG_SCHEMA_FILE}
# The options of Raymond for whoever works in this folder or below it.
#
# Take the # away from an option to set it. What stands there is its default; where it is only an example, "Without it"
# says what is usual.
# What is given on the command line goes before this file. \`raymond config\` shows what is in force.
# A run remembers its options: what you change here counts for runs that are started later.
`;

const VARS_SECTION = `[vars]

# Variables for every prompt and script, always texts: {{issue}} in prompts, $issue in scripts.
#issue = "195"
`;
