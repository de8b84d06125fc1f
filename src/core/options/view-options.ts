import { BOOLEAN, OPTIONAL_PATH, OPTIONAL_TEXT, type OptionRow, PATHS } from './option-types.ts';
import { OPTIONS, type Options, overlayOptions } from './options.ts';

/**
 * The options of a view: how a command shows a run and where else it writes what happens. They are written like those of
 * a run, but belong to one call of the command: a run does not remember them.
 */
const VIEW_OPTION_TABLE = {
  /** True to print no progress. */
  quiet: {
    key: 'quiet',
    type: BOOLEAN,
    default: false,
    argument: '',
    negation: 'print progress',
    help: 'print no progress, only warnings and problems at the end',
  } satisfies OptionRow<boolean>,
  /** True to print also what agents say and do. */
  verbose: {
    key: 'verbose',
    type: BOOLEAN,
    default: false,
    argument: '',
    negation: 'do not print that',
    help: 'also print what agents say and which tools they use',
  } satisfies OptionRow<boolean>,
  /** A file to which every event is appended; null for none. */
  logFile: {
    key: 'log_file',
    type: OPTIONAL_PATH,
    default: null,
    whenOmitted: 'none',
    example: 'events.jsonl',
    argument: '<file>',
    help: 'also append every event to this file as a line of JSON',
    trust: { effect: 'appends to this file', isNeededFor: (file: string | null) => file !== null },
  } satisfies OptionRow<string | null>,
  /** The folders that `raymond serve` shows; none for the current one and all in which this user has started runs. */
  serveRoots: {
    key: 'serve_roots',
    type: PATHS,
    default: [],
    help: 'what raymond serve shows; [] for this folder and all in which you have started runs',
  } satisfies OptionRow<readonly string[]>,
  /** The address of the database that holds the runs; null for the files here. It is shown without its password. */
  database: {
    key: 'database',
    type: { ...OPTIONAL_TEXT, format: (address: string | null) => address && hidePassword(address) },
    default: null,
    whenOmitted: 'none: runs are in files',
    example: 'postgres://raymond@db.example.com/raymond',
    help: 'the PostgreSQL database that holds the runs, for a fleet of workers',
    trust: { effect: 'sends runs to this database', isNeededFor: (address: string | null) => address !== null },
  } satisfies OptionRow<string | null>,
};

/** An address without its password, which is nobody's business. */
const hidePassword = (address: string): string =>
  address.replace(/(:\/\/[^:@/]*):[^@]*@/, '$1:…@').replace(/([?&]password=)[^&]*/gi, '$1…');

/** The options of a view. */
export interface ViewOptions {
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly logFile: string | null;
  readonly serveRoots: readonly string[];
  readonly database: string | null;
}

/** Everything that can be set in a config file or on the command line. */
export type Settings = Options & ViewOptions;

/** The name of a setting in the code. */
export type SettingName = keyof Settings;

/** A row of the table of options or of the options of a view, with its name. */
export type Setting = OptionRow<Settings[SettingName]> & { readonly name: SettingName };

type ViewOption = OptionRow<ViewOptions[keyof ViewOptions]> & { readonly name: keyof ViewOptions };

/** The options of a view, in the order of the help. */
export const VIEW_OPTIONS: readonly ViewOption[] = (Object.keys(VIEW_OPTION_TABLE) as (keyof ViewOptions)[]).map(
  (name) => ({ ...VIEW_OPTION_TABLE[name], name }),
);

/** All settings. */
export const SETTINGS: readonly Setting[] = [...OPTIONS, ...VIEW_OPTIONS];

/** Separates what a run remembers from what concerns only its view. */
export function splitSettings(settings: Partial<Settings>): {
  readonly options: Partial<Options>;
  readonly view: Partial<ViewOptions>;
} {
  const { quiet, verbose, logFile, serveRoots, database, ...options } = settings;
  return {
    options,
    view: {
      ...(quiet !== undefined && { quiet }),
      ...(verbose !== undefined && { verbose }),
      ...(logFile !== undefined && { logFile }),
      ...(serveRoots !== undefined && { serveRoots }),
      ...(database !== undefined && { database }),
    },
  };
}

/** Puts what one source of settings says over what another says, as `overlayOptions` does. */
export function overlaySettings(lower: Partial<Settings>, upper: Partial<Settings>): Partial<Settings> {
  const [below, above] = [splitSettings(lower), splitSettings(upper)];
  return { ...overlayOptions(below.options, above.options), ...below.view, ...above.view };
}
