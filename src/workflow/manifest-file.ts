import { WHOLE_FILE } from '../language/text/text.ts';
import { newFindingReport } from '../yaml/finding-report.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { readYamlScalarText, type YamlValue } from '../yaml/value.ts';
import { EMPTY_MANIFEST, MANIFEST_FILE, type ParsedManifest, readManifest } from './manifest.ts';
import { decodeText, type WorkflowFiles } from './workflow-files.ts';

/** Reads the manifest of a folder or a zip; an empty one if there is none. */
export async function readManifestFile(files: WorkflowFiles): Promise<ParsedManifest> {
  if (!(await files.list()).includes(MANIFEST_FILE)) return { manifest: EMPTY_MANIFEST, findings: [] };
  const report = newFindingReport(MANIFEST_FILE);
  const problem = files.problemOf(MANIFEST_FILE);
  if (problem !== undefined) {
    report.error(WHOLE_FILE, problem);
    return { manifest: EMPTY_MANIFEST, findings: report.findings };
  }
  const decoded = decodeText((await files.read(MANIFEST_FILE)).bytes, 'prompt');
  if (decoded.kind === 'not-text') {
    report.error(decoded.at, decoded.message);
    return { manifest: EMPTY_MANIFEST, findings: report.findings };
  }
  const value = readYaml(decoded.text, report);
  const states =
    value?.kind === 'mapping' ? value.pairs.find(([key]) => readYamlScalarText(key) === 'states') : undefined;
  if (states !== undefined) report.error(states[0].at, STATES_MESSAGE);
  return { manifest: readManifest(withoutStates(value), report), findings: report.findings, text: decoded.text };
}

const STATES_MESSAGE =
  '`states` makes this a workflow of its own, beside the state files of this folder: ' +
  `name ${MANIFEST_FILE} itself to run it, or remove the key`;

/** The top level without its states: what is left is the manifest. */
function withoutStates(value: YamlValue | undefined): YamlValue | undefined {
  if (value?.kind !== 'mapping') return value;
  return { ...value, pairs: value.pairs.filter(([key]) => readYamlScalarText(key) !== 'states') };
}
