import { existsSync, readdirSync } from 'node:fs';
import { isStateFile } from '../core/state-names.ts';
import { readPublishedSchema } from '../runtime/published-schema.ts';

/** By which an editor checks the files of a workflow. */
export const WORKFLOW_SCHEMAS: Readonly<Record<string, string>> = {
  'frontmatter.schema.json': readPublishedSchema('frontmatter'),
  'scenario.schema.json': readPublishedSchema('scenario'),
};

/** The schemas of what lies in a folder: the config file, or the prompts and scenarios of a workflow. */
export function chooseSchemas(folder: string): Readonly<Record<string, string>> {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const isConfig = files.includes('config.toml') && !files.some(isStateFile);
  return isConfig ? { 'config.schema.json': readPublishedSchema('config') } : WORKFLOW_SCHEMAS;
}
