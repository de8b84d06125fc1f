import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { publishedSchema } from '../../raymond/published-schema.ts';

/** By which an editor checks the files of a workflow. */
export const WORKFLOW_SCHEMAS: Readonly<Record<string, string>> = {
  'frontmatter.schema.json': publishedSchema('frontmatter'),
  'scenario.schema.json': publishedSchema('scenario'),
};

/** The schemas of what lies in a folder: the config file, or the prompts and scenarios of a workflow. */
export const schemasFor = (folder: string): Readonly<Record<string, string>> =>
  existsSync(join(folder, 'config.toml')) ? { 'config.schema.json': publishedSchema('config') } : WORKFLOW_SCHEMAS;
