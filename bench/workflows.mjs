// How long it takes to read and check 50 workflows that call each other, with ten states each.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure, inTurns, median } from './harness.mjs';

const WORKFLOWS = 50;
const STATES = 10;

export async function measureWorkflows({ command, workshop, quick, load }) {
  const folder = join(workshop(), 'workflows');
  writeWorkflows(folder);
  const first = join(folder, 'w0');
  const { openWorkflow } = await load('workflow/workflow.js');
  const rounds = await inTurns(quick ? 3 : 9, {
    node: async () => time(['-e', '0']),
    lint: async () => time([command, 'lint', first]),
    load: async () => {
      const start = performance.now();
      await openWorkflow(first, 'unix', { maxDepth: null });
      return performance.now() - start;
    },
  });
  const lint = median(rounds.lint.map((ms, round) => ms - rounds.node[round]));
  return [
    figure(`raymond lint with ${WORKFLOWS} workflows that call each other, on top of node -e 0`, lint, 'ms', 1000),
    figure('  reading and checking them before a run', median(rounds.load), 'ms', 1000),
  ];
}

/** Each workflow calls the next and the one after it in its policies, and a third in a script. */
function writeWorkflows(folder) {
  for (let index = 0; index < WORKFLOWS; index += 1) {
    const own = join(folder, `w${index}`);
    mkdirSync(own, { recursive: true });
    const other = (step) => `../w${(index + step) % WORKFLOWS}`;
    const start = ['goto, target: STEP_1', `call-workflow, target: ${other(1)}, return: STEP_1`];
    writeFileSync(join(own, 'START.md'), prompt([...start, `fork-workflow, target: ${other(2)}, next: STEP_1`]));
    for (let step = 1; step < STATES - 1; step += 1)
      writeFileSync(
        join(own, `STEP_${step}.md`),
        prompt([`goto, target: ${step === STATES - 2 ? 'END' : `STEP_${step + 1}`}`]),
      );
    writeFileSync(join(own, 'END.sh'), script(other(7)));
  }
}

const prompt = (entries) =>
  `---\nallowed_transitions:\n${entries.map((entry) => `  - { tag: ${entry} }\n`).join('')}---\n${'Do what is next, and then stop.\n'.repeat(20)}`;

const script = (other) => `#!/bin/bash
if [ -e done ]; then echo "<result>done</result>"; else echo '<reset-workflow>${other}</reset-workflow>'; fi
`;

function time(args) {
  const start = performance.now();
  try {
    execFileSync(process.execPath, args, { stdio: 'ignore' });
  } catch (error) {
    // With errors found it exits with 65; that it ran is all that counts.
    if (error.status !== 65) throw error;
  }
  return performance.now() - start;
}
