/** The digests of a workflow's code, by file: scripts and helpers, the frontmatter of prompts, the manifest. */
export type CodeDigests = Readonly<Record<string, string>>;

/** Folders of installed packages, and of what interpreters and git keep for themselves. Programs in them are not compared. */
export const PACKAGE_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__', '.venv', 'venv']);

/** The code of one workflow as the run first saw it. */
export interface PinnedWorkflow {
  readonly files: CodeDigests;
  /** True if all programs in its folder count, and not only its states: false where agents work in that folder. */
  readonly hasHelpers: boolean;
}

/** The code that a run may use without asking a person. */
export interface PinnedCode {
  /** By path, relative to the run's own workflow, which has the empty path. */
  readonly workflows: Readonly<Record<string, PinnedWorkflow>>;
  /** By path, the digest of each workflow that an answer may name although no state does. */
  readonly listed: Readonly<Record<string, string>>;
}

/** A file with code that the run has not seen before. */
export interface ChangedFile {
  /** The path of its workflow, relative to the run's own. */
  readonly workflow: string;
  readonly file: string;
  readonly digest: string;
}

/** A workflow that may not be pinned yet. */
interface Enterable {
  readonly code?: { readonly path: string; readonly pinned: PinnedWorkflow };
}

/** The code of a run with that of the workflows which an answer enters. */
export function pinEntered(code: PinnedCode | null, entered: readonly (Enterable | null)[]): PinnedCode | null {
  if (code === null) return null;
  const added = entered.flatMap((workflow) =>
    workflow?.code === undefined || Object.hasOwn(code.workflows, workflow.code.path)
      ? []
      : [[workflow.code.path, workflow.code.pinned] as const],
  );
  return added.length === 0 ? code : { ...code, workflows: { ...code.workflows, ...Object.fromEntries(added) } };
}

/** The files of a workflow that differ from what the run has pinned, or are new. A file that is gone cannot run. */
export function findChangedFiles(path: string, pinned: CodeDigests, now: CodeDigests): readonly ChangedFile[] {
  return Object.entries(now).flatMap(([file, digest]) => {
    const known = Object.hasOwn(pinned, file) ? pinned[file] : NO_CODE;
    return digest === known ? [] : [{ workflow: path, file, digest }];
  });
}

/** The digest of a prompt without frontmatter: it holds no code, so that a new one is not new code. */
export const NO_CODE = '';

/** The code of a run after a person has accepted these files. */
export function acceptFiles(code: PinnedCode, files: readonly ChangedFile[]): PinnedCode {
  const workflows: Record<string, PinnedWorkflow> = { ...code.workflows };
  for (const { workflow, file, digest } of files) {
    const pinned = Object.hasOwn(workflows, workflow) ? workflows[workflow] : undefined;
    if (pinned !== undefined) workflows[workflow] = { ...pinned, files: { ...pinned.files, [file]: digest } };
  }
  return { ...code, workflows };
}
