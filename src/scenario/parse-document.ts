import type { z } from 'zod';
import { EXPECTED_TEXT } from './answer-schema.ts';
import { describeIssues } from './schema-issues.ts';
import { type DocumentProblem, valueAtPath, type YamlDocument } from '../yaml/document.ts';
import { type ScenarioFileContent, scenarioFileSchema } from './schema.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** What a scenario file says, whatever its workflow: null if something is wrong with it. */
export interface ParsedScenario {
  readonly document: YamlDocument;
  readonly content: ScenarioFileContent | null;
  readonly problems: readonly DocumentProblem[];
}

/** Reads a document as a scenario file. Where a text is wanted, `5`, `1.50` and `true` are texts, as they are written. */
export function parseScenarioDocument(document: YamlDocument): ParsedScenario {
  const parsed = scenarioFileSchema.safeParse(document.value);
  if (parsed.success) return { document, content: parsed.data, problems: [] };
  const paths = findExpectedTexts(parsed.error.issues).filter((path) =>
    isNumberOrBoolean(valueAtPath(document.value, path)),
  );
  if (paths.length > 0) return parseScenarioDocument(replaceWithTexts(paths, document));
  return { document, content: null, problems: describeIssues(parsed.error.issues, document) };
}

/** Where a text is wanted and something else was found. */
function findExpectedTexts(issues: readonly Issue[], parentPath: Path = []): readonly Path[] {
  return issues.flatMap((issue) => {
    const path = [...parentPath, ...issue.path];
    const inner =
      issue.code === 'invalid_union' ? issue.errors.flatMap((branch) => findExpectedTexts(branch, path)) : [];
    return issue.message === EXPECTED_TEXT ? [path, ...inner] : inner;
  });
}

const isNumberOrBoolean = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';

function replaceWithTexts(paths: readonly Path[], document: YamlDocument): YamlDocument {
  const value = structuredClone(document.value);
  for (const path of paths) {
    const parent = valueAtPath(value, path.slice(0, -1)) as Record<PropertyKey, unknown>;
    const last = path.at(-1) ?? '';
    parent[last] = document.sourceAt(path) ?? String(parent[last]);
  }
  return { ...document, value };
}
