import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { WorkflowSourceFile } from '../graph/workflow-source.ts';
import type { Platform } from '../language/state-names.ts';
import { comparePositions } from '../language/text/text-position.ts';
import { newFindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { formatYamlData } from '../yaml/value.ts';
import { decodeText } from './decode-text.ts';
import { invalidWorkflowFile, unreadableWorkflowFile } from './invalid-workflow.ts';
import type { ParsedManifest } from './manifest.ts';
import { EMPTY_MANIFEST, readManifest } from './manifest.ts';
import { parseOneFileState } from './one-file-state.ts';
import { type OneFileState, readOneFileStates } from './one-file-states.ts';
import { cacheUntilChanged } from './versioned-file.ts';
import type { WorkflowFiles } from './workflow-files.ts';

/** Opens a one-file workflow as the files of a workflow: each state is a file, as it would be in a folder. */
export function openOneFile(path: string): WorkflowFiles {
  const name = basename(path);
  const load = cacheUntilChanged(path, () => readOneFile(path, name));
  const find = async (file: string): Promise<[OneFileState, readonly string[]]> => {
    const { states, lines } = await load();
    const state = states.get(file);
    if (state === undefined) throw invalidWorkflowFile(name, `it no longer contains ${quoteInMessage(file)}`);
    return [state, lines];
  };
  return {
    name,
    pathOf: () => null,
    problemOf: () => undefined,
    list: async () => [...(await load()).states.keys()].sort(),
    read: async (file) => ({ bytes: Buffer.from((await find(file))[0].body), executable: false }),
    oneFile: {
      readManifest: load,
      async parseState(file: string, platform: Platform): Promise<WorkflowSourceFile> {
        const [state, lines] = await find(file);
        return parseOneFileState(name, state, lines, platform);
      },
    },
  };
}

interface OneFile extends ParsedManifest {
  readonly lines: readonly string[];
  readonly states: ReadonlyMap<string, OneFileState>;
}

async function readOneFile(path: string, name: string): Promise<OneFile> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadableWorkflowFile(name, error);
  });
  const report = newFindingReport(name);
  const decoded = decodeText(bytes, 'prompt');
  if (decoded.kind === 'not-text') {
    report.error(decoded.at, decoded.message);
    return { lines: [], states: new Map(), manifest: EMPTY_MANIFEST, findings: report.findings };
  }
  // Positions are those of the text with plain line ends, as the reader of YAML counts them.
  const text = decoded.text.replaceAll('\r\n', '\n');
  const value = readYaml(text, report);
  const { states, rest } = readOneFileStates(value, name, report);
  const manifest = value === undefined ? EMPTY_MANIFEST : readManifest(rest, report);
  const findings = report.findings.toSorted(comparePositions);
  const said = rest?.kind === 'mapping' && rest.pairs.length > 0 ? { text: formatYamlData(rest) } : {};
  return { lines: text.split('\n'), states, manifest, findings, ...said };
}
