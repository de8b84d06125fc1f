import { join, relative } from 'node:path';
import { choosePermissionMode } from '../../core/options/sandbox-options.ts';
import type { PromptTurn } from '../../core/turns/due.ts';
import { isWithin } from '../../git-repository.ts';
import { PACKAGE_FOLDERS } from '../../language/pinned-code.ts';
import type { State } from '../../language/state.ts';
import type { TurnContext } from '../turn-context.ts';
import { findGitPlaces } from './git-places.ts';
import { patternOf, patternsOfAllExcept, spellings } from './path-patterns.ts';
import { findProgramPlaces } from './program-places.ts';
import { readSettings } from './start-checks.ts';

/** Raymond's own files in any project, also in a worktree or a folder below. */
const RAYMOND_FILES = ['.raymond/config.toml', '.raymond/state', '.raymond/runs', '.config/raymond'];

/** Files, in any folder, from which Claude Code and git start programs. */
const STARTING_FILES = ['.claude.json', '.mcp.json', '.claude-plugin', '.git', '.gitconfig', '.gitmodules'];

/** Files of the user from which git, ssh and the shells of Claude Code start programs; in a project they are plain files. */
const HOME_FILES = [
  ...['.config/git', '.ssh', '.cache/raymond', '.bashrc', '.bash_profile', '.bash_login', '.profile'],
  ...['.zshenv', '.zprofile', '.zshrc', '.zlogin'],
];

/** Entries of a folder with settings of Claude Code that can name programs to start, or tools to permit. */
const SETTINGS_ENTRIES = ['*.json', 'agents', 'commands', 'hooks', 'output-styles', 'plugins', 'skills', 'workflows'];

/**
 * Commands that Claude Code runs without asking while it accepts edits. They can replace a denied file by moving a folder around
 * it, or by naming only the folder that it goes to, so they are denied as a whole unless somebody permits them by name.
 */
const FOLDER_COMMANDS = ['mv', 'cp', 'rm'];

/** Quotes and backslashes could hide the name, so a command with one of them is denied as well. */
const HIDING_PATTERNS = ['*.raymond*', '*"*', "*'*", '*\\\\\\\\*'];

const WHOLE_SHELL = /^Bash(?:$|\((?:\*|:\*)\)$)/;

type Limits = Pick<TurnContext, 'ownFiles' | 'workflowPlaces' | 'startFolder' | 'options' | 'env'>;
type Place = Pick<PromptTurn, 'cwd' | 'taskFolder' | 'runFolder'>;
type Permissions = Pick<State, 'permissionMode' | 'allowedTools' | 'disallowedTools' | 'sandbox'>;

/**
 * The rules of Claude Code that keep an agent from writing to Raymond's files, to its workflow and, unless it has a whole
 * shell, to files from which programs are started. Claude Code applies them in every permission mode, to links by where they
 * lead, and to the targets of shell commands that it can read. See docs/security.md.
 */
export function findDeniedTools(limits: Limits, turn: Place, state: Permissions): readonly string[] {
  const mode = choosePermissionMode(limits.options, state);
  const permitsShell =
    mode === 'bypassPermissions' || (state.allowedTools ?? []).some((tool) => WHOLE_SHELL.test(tool));
  const hasShell = permitsShell && !(state.disallowedTools ?? []).some((tool) => WHOLE_SHELL.test(tool));
  const patterns = [
    ...ownPatterns(limits, turn),
    ...(limits.options.editWorkflows ? [] : workflowPatterns(limits, turn)),
    ...RAYMOND_FILES.map((name) => `/**/${name}`),
    ...(hasShell
      ? []
      : [
          ...startingPatterns(limits.env),
          ...packagePatterns(limits),
          ...programPatterns(limits, turn),
          ...findGitPlaces([limits.startFolder, turn.cwd], limits.env).flatMap(spellings).map(patternOf),
        ]),
  ];
  const commands = hasShell || mode !== 'acceptEdits' ? [] : FOLDER_COMMANDS;
  const rulesOf = (command: string): readonly string[] =>
    isPermitted(command, state, turn.cwd, limits.env)
      ? HIDING_PATTERNS.map((pattern) => `Bash(${command} ${pattern})`)
      : [`Bash(${command}:*)`, `Bash(${command} *)`];
  return [...new Set(patterns.map((pattern) => `Edit(/${pattern})`)), ...commands.flatMap(rulesOf)];
}

/**
 * True if the state or the settings of Claude Code speak of a command, or of the whole shell: then its agent is not edit-only, or
 * the settings deny the command themselves.
 */
function isPermitted(command: string, { allowedTools }: Permissions, cwd: string, env: TurnContext['env']): boolean {
  const rule = new RegExp(`^Bash(?:\\((?:\\*|:\\*|${command}(?:[ :].*)?)\\))?$`);
  if ((allowedTools ?? []).some((tool) => rule.test(tool))) return true;
  const configDir = env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? '', '.claude');
  const named = readSettings(cwd, configDir).flatMap((text) => [...text.matchAll(/"(Bash[^"]*)"/g)]);
  return named.some(([, tool = '']) => rule.test(tool));
}

function ownPatterns(
  { ownFiles, workflowPlaces, options }: Limits,
  { taskFolder, runFolder }: Place,
): readonly string[] {
  const { root, writable } = ownFiles;
  const edited = options.editWorkflows ? workflowPlaces().map(({ path }) => path) : [];
  const folders = [...writable, taskFolder, runFolder, ...edited].filter((each) => each !== null);
  const inside = folders.filter((folder) => isWithin(folder, root)).map((folder) => relative(root, folder));
  return spellings(root).flatMap((each) =>
    patternsOfAllExcept(
      each,
      inside.map((path) => join(each, path)),
    ),
  );
}

/** A folder in which agents work may hold a workflow, too: then its states are denied one by one. */
function workflowPatterns(
  { workflowPlaces, startFolder, ownFiles }: Limits,
  { cwd, taskFolder, runFolder }: Place,
): readonly string[] {
  const workFolders = [startFolder, cwd, taskFolder, runFolder, ...ownFiles.writable].filter((each) => each !== null);
  return workflowPlaces().flatMap(({ path, files }) =>
    spellings(path).flatMap((each) =>
      files !== null && workFolders.some((folder) => isWithin(folder, path) || isWithin(folder, each))
        ? files.map((file) => patternOf(join(each, file)))
        : [patternOf(each)],
    ),
  );
}

/** Scripts of a workflow load packages beside them, which are never compared: nobody who edits workflows has to write there. */
const packagePatterns = ({ workflowPlaces }: Limits): readonly string[] =>
  workflowPlaces()
    .flatMap(({ path }) => spellings(path))
    .flatMap((folder) => [...PACKAGE_FOLDERS].map((name) => `${patternOf(folder)}/**/${name}`));

function startingPatterns(env: TurnContext['env']): readonly string[] {
  const { CLAUDE_CONFIG_DIR: claudeFolder, XDG_CONFIG_HOME: configHome, HOME: home } = env;
  const settingsFolders = ['/**/.claude', ...(claudeFolder ? spellings(claudeFolder).map(patternOf) : [])];
  return [
    ...STARTING_FILES.map((name) => `/**/${name}`),
    ...settingsFolders.flatMap((folder) => SETTINGS_ENTRIES.map((name) => `${folder}/${name}`)),
    ...(claudeFolder ? spellings(claudeFolder).map((each) => patternOf(join(each, '.claude.json'))) : []),
    ...(configHome
      ? spellings(configHome).flatMap((each) => ['raymond', 'git'].map((name) => patternOf(join(each, name))))
      : []),
    ...(home ? spellings(home).flatMap((each) => HOME_FILES.map((name) => patternOf(join(each, name)))) : []),
  ];
}

function programPatterns({ env, options, startFolder }: Limits, { cwd }: Place): readonly string[] {
  const workFolders = [...new Set([cwd, startFolder])];
  return findProgramPlaces({ env, claude: options.claude, workFolders }).map(patternOf);
}
