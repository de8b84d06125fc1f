// Measures what docs/performance.md promises. `--json` prints the same as data, `--quick` takes fewer rounds and smaller
// sizes; names such as `startup` run only those. CHECKOUT names another one of the project, built, BENCH_DIR another disk.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { measureAsks } from './asks.mjs';
import { measureDispatcher } from './dispatcher.mjs';
import { measureEvaluators } from './evaluators.mjs';
import { measureFleet } from './fleet.mjs';
import { measureForks } from './forks.mjs';
import { measureGotos } from './gotos.mjs';
import { formatFigures, formatGrowth, newWorkshop } from './harness.mjs';
import { measureJoins } from './joins.mjs';
import { measureJournal } from './journal.mjs';
import { measureLint } from './lint.mjs';
import { measurePageFrames } from './page.mjs';
import { measureScenarios } from './scenarios.mjs';
import { measureServe } from './serve.mjs';
import { measureStartup } from './startup.mjs';
import { measureSteps } from './steps.mjs';
import { measureTags } from './tags.mjs';
import { measureTransitions } from './transitions.mjs';
import { measureWorkflows } from './workflows.mjs';
import { measureWorktrees } from './worktrees.mjs';

const FIGURES = {
  transitions: measureTransitions,
  gotos: measureGotos,
  steps: measureSteps,
  evaluators: measureEvaluators,
  forks: measureForks,
  joins: measureJoins,
  asks: measureAsks,
  dispatcher: measureDispatcher,
  journal: measureJournal,
  scenarios: measureScenarios,
  startup: measureStartup,
  lint: measureLint,
  serve: measureServe,
  page: measurePageFrames,
  workflows: measureWorkflows,
  worktrees: measureWorktrees,
  fleet: measureFleet,
};

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith('--'));
const isWanted = (name) => names.length === 0 || names.includes(name);

const project = process.env.CHECKOUT ? pathToFileURL(`${process.env.CHECKOUT}/`) : new URL('../', import.meta.url);
const command = fileURLToPath(new URL('dist/raymond.js', project));
const modules = new URL('build/', project);
const load = (file) => import(new URL(file, modules));
const bench = { command, modules, load, workshop: newWorkshop(), quick: words.includes('--quick') };

const figures = [];
for (const [name, measure] of Object.entries(FIGURES)) if (isWanted(name)) figures.push(...(await measure(bench)));
const tags = isWanted('tags') ? await measureTags(bench) : [];

if (words.includes('--json')) console.log(JSON.stringify({ figures, tags }, null, 2));
else {
  const tables = [figures.length > 0 && formatFigures(figures), tags.length > 0 && formatGrowth(tags)];
  console.log(tables.filter(Boolean).join('\n\n'));
}
