import type { OptionRow, OptionType } from '../options/option-types.ts';
import type { WorktreeContent, WorktreePlace } from './worktree.ts';

/** A git repository and the branch, tag or commit of it that a run works on; its default branch if that is null. */
export interface WorkspaceSource {
  readonly git: string;
  readonly ref: string | null;
}

/** Where the clone of a run is, and what it was made from. */
export interface WorkspacePlace extends WorktreePlace {
  /** The repository that it was cloned from, and its branches are pushed to. */
  readonly remote: string;
}

/** The new work in the clone of a run. */
export interface WorkspaceContent extends WorktreeContent {
  /** True if all its commits are in the repository that it was cloned from. */
  readonly pushed: boolean;
}

/** The clone in which the agents of a run work: wanted, there, or left when the run came to rest. */
export type Workspace =
  /** With its place if it was there before: a resume looks for it, and makes it again if it is gone. */
  | { readonly kind: 'wanted'; readonly place: WorkspacePlace | null }
  | { readonly kind: 'made'; readonly place: WorkspacePlace }
  | { readonly kind: 'left'; readonly place: WorkspacePlace; readonly content: WorkspaceContent };

/** The name that stands for the clone where turns are named after agents. The names of all agents begin with `main`. */
export const WORKSPACE = 'workspace';

/** The value for no clone, which overrides a clone that the workflow names. */
const NO_WORKSPACE = 'none';

/** Reads an address as it is written, `GIT#REF`; what comes after the last `#` is the ref. */
export function parseWorkspace(text: string): WorkspaceSource {
  const at = text.lastIndexOf('#');
  return at === -1 ? { git: text, ref: null } : { git: text.slice(0, at), ref: text.slice(at + 1) || null };
}

/** The address of a repository together with a ref, as it is written. */
export const formatWorkspace = ({ git, ref }: WorkspaceSource): string => (ref === null ? git : `${git}#${ref}`);

/** True if git takes an address for a path: no protocol, and no host before a colon. */
const isPath = (git: string): boolean => !/^[^/]*:/.test(git);

/** The address with a path in it made absolute. */
export function resolveWorkspace(text: string, resolvePath: (path: string) => string): string {
  const source = parseWorkspace(text);
  return isPath(source.git) ? formatWorkspace({ ...source, git: resolvePath(source.git) }) : text;
}

/** Beginnings that an address must not have: a flag, a password, or a user name, which may be a token. The run stores it, so it must hold no secret. */
const NO_FLAG_OR_SECRET = String.raw`^(?!-)(?![\w+.-]+:\/\/[^/@]*:[^/@]*@)(?![hH][tT][tT][pP][sS]?:\/\/[^/]*@)`;
const CONTROL = String.raw`\u0000-\u001f\u007f`;
/** The rules of git for the names of branches and tags, as far as they matter here; a commit fits them, too. */
const REF = String.raw`(?!-)(?![^#]*(?:\.\.|@\{|\/\/))[^\s~^:?*[\\#${CONTROL}]+`;

/** The addresses of git repositories, without a ref, as a regular expression. */
export const GIT_ADDRESS_PATTERN = `${NO_FLAG_OR_SECRET}(?=[^#]*[^\\s#])[^#${CONTROL}]+$`;
/** The names of branches, tags and commits, as a regular expression. */
export const GIT_REF_PATTERN = `^${REF}$`;
const WITH_REF_PATTERN = `${NO_FLAG_OR_SECRET}(?=[^]*\\S[^]*#[^#]*$)[^${CONTROL}]+#(?:${REF})?$`;
const WORKSPACE_PATTERN = `${GIT_ADDRESS_PATTERN}|${WITH_REF_PATTERN}`;

/** Why an address cannot be used; undefined if it can. */
export function workspaceProblem(text: string): string | undefined {
  if (new RegExp(WORKSPACE_PATTERN).test(text)) return undefined;
  const { git, ref } = parseWorkspace(text);
  if (git.trim() === '') return 'the address of a git repository is missing';
  if (!new RegExp(NO_FLAG_OR_SECRET).test(text) && !git.startsWith('-'))
    return 'a password or token in the address would be stored with the run: leave out what is before the `@`, and use a credential helper of git or a key';
  if (ref !== null && !new RegExp(GIT_REF_PATTERN).test(ref))
    return `\`${ref}\` cannot be the name of a branch or tag, or a commit`;
  return 'this is not the address of a git repository';
}

const WORKSPACE_TYPE: OptionType<string | null> = {
  kind: 'text',
  choices: [],
  expected: 'the address of a git repository, perhaps with #REF, or none',
  jsonSchema: { type: 'string', pattern: WORKSPACE_PATTERN },
  findProblem: (word) => {
    const message = workspaceProblem(word);
    const hint = 'Write GIT or GIT#REF, such as git@host:team/app.git#main.';
    return message === undefined ? undefined : { message, hint, isCertain: true };
  },
  nullable: true,
  parse(written, resolvePath = (path) => path) {
    if (typeof written !== 'string' || written.trim() === '') return undefined;
    if (written === NO_WORKSPACE) return null;
    return workspaceProblem(written) === undefined ? resolveWorkspace(written, resolvePath) : undefined;
  },
  format: (kept) => kept,
};

/** The option that lets a run work in a clone of its own. */
export const WORKSPACE_OPTION: OptionRow<string | null> = {
  key: 'workspace',
  type: WORKSPACE_TYPE,
  default: null,
  whenOmitted: 'that of the workflow, else none',
  example: 'git@example.com:team/app.git#main',
  argument: '<git[#ref]>',
  trust: { effect: 'clones this repository and pushes to it', isNeededFor: (address) => address !== null },
  help: 'work in a clone of this git repository, on a branch of its own that is pushed at the end; none for --dir',
};
