import { DEFAULT_TASK_FOLDER_PATTERN } from '../run/work-folders.ts';
import { OPTIONAL_BOOLEAN, OPTIONAL_PATH, type OptionRow, TASK_FOLDERS, TEXTS } from './option-types.ts';

/** The option that permits prompts to change to more folders. */
export const ALLOW_CD_OPTION: OptionRow<readonly string[]> = {
  key: 'allow_cd',
  type: TEXTS,
  default: [],
  help: 'folders outside of the project that a prompt may change to with cd, such as "../project-*"',
  trust: { effect: 'lets prompts work in these folders', isNeededFor: (globs) => globs.length > 0 },
};

/** The option that sets another place for git worktrees. */
export const WORKTREE_DIR_OPTION: OptionRow<string | null> = {
  key: 'worktree_dir',
  type: OPTIONAL_PATH,
  default: null,
  whenOmitted: '$XDG_STATE_HOME/raymond/worktrees, else ~/.local/state/raymond/worktrees',
  example: '~/worktrees',
  help: 'the folder below which git worktrees and clones of runs are made',
  trust: { effect: 'makes worktrees there, and lets agents write in them', isNeededFor: (folder) => folder !== null },
};

/** The option that keeps the files of working folders around prompts. */
export const SNAPSHOTS_OPTION: OptionRow<boolean | null> = {
  key: 'snapshots',
  type: OPTIONAL_BOOLEAN,
  default: null,
  whenOmitted: 'on, except for canned answers',
  example: true,
  argument: '',
  negation: 'take none',
  help: 'take snapshots of the working folder around prompts, for `raymond diff` and `raymond rerun`',
};

/** The option that sets the folders of tasks. */
export const TASK_FOLDER_OPTION: OptionRow<string> = {
  key: 'task_folder_pattern',
  type: TASK_FOLDERS,
  default: DEFAULT_TASK_FOLDER_PATTERN,
  help: 'the folder in which each task may work, {{task_folder}} in prompts',
  trust: { effect: 'lets agents write there', isNeededFor: (pattern) => pattern !== DEFAULT_TASK_FOLDER_PATTERN },
};
