// How long one waits for the findings about a workflow of 500 states, compared with a Node.js that does nothing.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure, inTurns, median } from './harness.mjs';

const STATES = 500;

export async function measureLint({ command, workshop, quick }) {
  const place = workshop();
  const [folder, file] = [join(place, 'workflow'), join(place, 'workflow.yaml')];
  writeWorkflow(folder);
  execFileSync(process.execPath, [command, 'convert', folder, file]);
  // It stops at the input that it lacks, which is after all of it was loaded and checked.
  const needy = join(place, 'needy.yaml');
  writeFileSync(needy, `input: { mode: required }\n${readFileSync(file, 'utf8')}`);
  const { node, version, lint, lintFile, loadFile } = await inTurns(quick ? 3 : 9, {
    node: async () => time(['-e', '0']),
    version: async () => time([command, '--version']),
    lint: async () => time([command, 'lint', folder]),
    lintFile: async () => time([command, 'lint', file]),
    loadFile: async () => time([command, '-C', place, 'run', needy]),
  });
  const onTop = (times) => median(times.map((ms, round) => ms - node[round]));
  return [
    figure(`raymond lint with ${STATES} states, on top of node -e 0`, onTop(lint), 'ms', 1000),
    figure('  of this, the start of raymond', onTop(version), 'ms'),
    figure('  over node -e 0', median(lint) / median(node), 'x'),
    figure(`raymond lint of one file with ${STATES} states, on top of node -e 0`, onTop(lintFile), 'ms', 1000),
    figure(`raymond run until one file with ${STATES} states is loaded, the same`, onTop(loadFile), 'ms', 1000),
  ];
}

/** Prompts with policies, calls, forks and loops, and every tenth state a script. */
function writeWorkflow(folder) {
  mkdirSync(folder);
  const name = (index) => (index % 10 === 9 ? `STATE_${index}.sh` : `STATE_${index}.md`);
  const at = (index) => name(Math.min(STATES - 1, index));
  writeFileSync(join(folder, 'START.md'), prompt([['goto', at(1)]], 'Look around.'));
  for (let index = 1; index < STATES; index += 1) {
    const text = name(index).endsWith('.sh') ? script(at(index + 1), at(index + 7)) : state(index, at);
    writeFileSync(join(folder, name(index)), text);
  }
}

function state(index, at) {
  const ways = [
    ['goto', at(index + 1)],
    ['reset', at(Math.max(1, index - 3))],
    ...(index % 5 === 0 ? [['call', at(index + 2), 'return', at(index + 1)]] : []),
    ...(index % 7 === 0 ? [['fork', at(index + 3), 'next', at(index + 1)]] : []),
    ['result', null],
  ];
  return prompt(ways, `Step ${index}: read {{result}} and write down what is next.\n\n${FILLER}`);
}

const FILLER = 'Stop when the file is written. Do not proceed to the next step yet, and change nothing else.\n'.repeat(
  20,
);

function prompt(ways, text) {
  const entries = ways.map(([tag, target, key, value]) => {
    const rest = key === undefined ? '' : `, ${key}: ${value}`;
    return `  - { tag: ${tag}${target === null ? '' : `, target: ${target}`}${rest} }\n`;
  });
  const tags = ways.map(([tag, target, key, value]) => {
    const attribute = key === undefined ? '' : ` ${key}="${value}"`;
    return `Answer <${tag}${attribute}>${target ?? 'done'}</${tag}> where it fits.\n`;
  });
  return `---\nallowed_transitions:\n${entries.join('')}---\n${text}\n\n${tags.join('')}`;
}

const script = (one, other) => `#!/bin/bash
if [ -e done ]; then
  echo "<goto>${one}</goto>"
else
  echo "<goto>${other}</goto>"
fi
`;

function time(args) {
  const start = performance.now();
  try {
    execFileSync(process.execPath, args, { stdio: 'ignore' });
  } catch (error) {
    // With errors found it exits with 65, without its input with 64; that it ran is all that counts.
    if (![64, 65].includes(error.status)) throw error;
  }
  return performance.now() - start;
}
