import { specKey, type WorkflowSource, type WorkflowSourceFile } from '../graph/workflow-source.ts';
import { nameState } from '../language/named-workflows.ts';
import type { FileFinding } from '../language/state.ts';
import type { WorkflowMember, WorkflowSet } from './workflow-set.ts';

/** All workflows of a set as one source: the states of those that are called have the name of their workflow before theirs. */
export function mergeSources({ first, members, references }: WorkflowSet): WorkflowSource {
  if (references.length === 0) return first.source;
  const called = members.filter((member) => member !== first);
  const findings = members.flatMap((member) => prefixFindings(member, member.source.findings ?? []));
  return {
    ...first.source,
    variables: [...new Set(members.flatMap(({ source }) => source.variables))],
    ...(findings.length > 0 && { findings }),
    files: members.flatMap((member) => member.source.files.map((file) => prefixFile(member, file))),
    called: called.map(({ name, source, location }) => ({
      name: name ?? '',
      path: location.root,
      ...(source.anyExtension && { anyExtension: true }),
    })),
    specs: new Map(
      references.map(({ from, spec, target }) => [
        specKey(from.name, spec),
        target.kind === 'found' ? { kind: 'found', file: target.state } : { kind: 'unknown', message: target.message },
      ]),
    ),
  };
}

/** A file with the name of its workflow before its own, and in its findings. */
function prefixFile(member: WorkflowMember, source: WorkflowSourceFile): WorkflowSourceFile {
  if (member.name === null) return source;
  const file = nameState(member.name, source.file);
  if (source.kind !== 'state') return { ...source, file };
  return { ...source, file, state: { ...source.state, file }, findings: prefixFindings(member, source.findings) };
}

/** Findings with the name of their workflow before those of their files. */
export const prefixFindings = ({ name }: WorkflowMember, findings: readonly FileFinding[]): readonly FileFinding[] =>
  name === null ? findings : findings.map((finding) => ({ ...finding, file: nameState(name, finding.file) }));
