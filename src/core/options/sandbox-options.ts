import { HOST_RULE_FORMS, HOST_RULE_PATTERN, parseHostRule } from '../../language/host-rules.ts';
import { BOOLEAN, type OptionRow, type OptionType, PATHS, TEXTS } from './option-types.ts';

/** True, false, or null if nobody has said so. */
const OPTIONAL_BOOLEAN: OptionType<boolean | null> = { ...BOOLEAN, nullable: true, format: (kept) => kept };

const HOSTS: OptionType<readonly string[]> = {
  ...TEXTS,
  expected: `a list of ${HOST_RULE_FORMS}`,
  jsonSchema: { type: 'array', items: { type: 'string', pattern: HOST_RULE_PATTERN } },
  parse: (written) => {
    const texts = TEXTS.parse(written);
    return texts?.every((text) => parseHostRule(text) !== undefined) ? texts : undefined;
  },
};

const NAMES: OptionType<readonly string[]> = {
  ...TEXTS,
  expected: 'a list of names of variables',
  jsonSchema: { type: 'array', items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } },
  parse: (written) => {
    const texts = TEXTS.parse(written);
    return texts?.every((text) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) ? texts : undefined;
  },
};

const isNotEmpty = (list: readonly string[]): boolean => list.length > 0;

/** The option that puts turns into a sandbox. Null leaves it to the workflow and its states. */
export const SANDBOX_OPTION: OptionRow<boolean | null> = {
  key: 'sandbox',
  type: OPTIONAL_BOOLEAN,
  default: null,
  whenOmitted: 'where the workflow asks for it',
  example: true,
  argument: '',
  negation: 'run them without it, whatever workflow and config files say',
  config: 'on',
  scenario: 'authored',
  help: 'run turns where they change only their folders and reach only named hosts',
};

/** The option that names the hosts that sandboxed turns reach. */
export const SANDBOX_HOSTS_OPTION: OptionRow<readonly string[]> = {
  key: 'sandbox_hosts',
  flag: '--sandbox-host',
  type: HOSTS,
  default: [],
  argument: '<host>',
  help: 'a host that sandboxed turns may reach: registry.npmjs.org, *.example.com, or localhost:5432 for a port here',
  trust: { effect: 'lets sandboxed turns reach these hosts', isNeededFor: isNotEmpty },
};

/** The option that names more folders in which sandboxed turns may write. */
export const SANDBOX_WRITE_OPTION: OptionRow<readonly string[]> = {
  key: 'sandbox_write',
  type: PATHS,
  default: [],
  help: 'more files and folders that sandboxed turns may change, such as "~/.npm"',
  trust: { effect: 'lets sandboxed turns change these files', isNeededFor: isNotEmpty },
};

/** The option that names more folders that sandboxed turns may read. */
export const SANDBOX_READ_OPTION: OptionRow<readonly string[]> = {
  key: 'sandbox_read',
  type: PATHS,
  default: [],
  help: 'more files and folders of the home folder that sandboxed turns may read, such as "~/.cargo"',
  trust: { effect: 'lets sandboxed turns read these files', isNeededFor: isNotEmpty },
};

/** The option that names variables which sandboxed turns get although they look like secrets. */
export const SANDBOX_ENV_OPTION: OptionRow<readonly string[]> = {
  key: 'sandbox_env',
  type: NAMES,
  default: [],
  help: 'variables that sandboxed turns get although they look like secrets, such as "NPM_TOKEN"',
  trust: { effect: 'hands these variables to sandboxed turns', isNeededFor: isNotEmpty },
};

/** The permission mode of Claude Code where nobody names one. */
export const USUAL_MODE = 'acceptEdits';

/** The same in a sandbox, in which nothing needs to be denied. */
export const SANDBOXED_MODE = 'bypassPermissions';

/** The options of a run that decide about permissions. */
interface PermissionOptions {
  readonly sandbox: boolean | null;
  readonly permissionMode: string | null;
  readonly skipPermissions: boolean;
}

/** The part of a state that decides about permissions. */
interface PermissionState {
  readonly permissionMode: string | null;
  readonly sandbox?: boolean;
}

/** True if the turns of a state run in a sandbox: on from anywhere wins, unless the command line switches it off. */
export const isSandboxed = (
  { sandbox }: Pick<PermissionOptions, 'sandbox'>,
  state: Pick<PermissionState, 'sandbox'>,
): boolean => sandbox ?? state.sandbox === true;

/** The permission mode of Claude Code in a state. */
export function choosePermissionMode(options: PermissionOptions, state: PermissionState): string {
  const { permissionMode, skipPermissions } = options;
  const usual = isSandboxed(options, state) ? SANDBOXED_MODE : USUAL_MODE;
  return state.permissionMode ?? (skipPermissions ? SANDBOXED_MODE : (permissionMode ?? usual));
}
