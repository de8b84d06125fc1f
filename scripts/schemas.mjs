// Writes schemas/ anew from the tables that the loaders use. They are published, so they are kept under version control.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configSchema } from '../build/config/template.js';
import { scenarioSchema } from '../build/scenario/json-schema.js';
import { frontmatterSchema } from '../build/workflow/frontmatter-keys.js';
import { workflowSchema } from '../build/workflow/workflow-schema.js';

const folder = join(import.meta.dirname, '..', 'schemas');
const schemas = {
  frontmatter: frontmatterSchema(),
  workflow: workflowSchema(),
  scenario: scenarioSchema(),
  config: configSchema(),
};

mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(join(folder, `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`);
}
