import type { WorkflowSource } from '../graph/workflow-source.ts';

/** True if a state of a workflow mentions a join, or permits one: then its runs keep workers that may still be joined. */
export const mentionsJoin = ({ files }: WorkflowSource): boolean =>
  files.some(
    (file) =>
      file.kind === 'state' &&
      (/<join\b/i.test(file.state.text) || file.state.rules.policy.some(({ tag }) => tag === 'join')),
  );
