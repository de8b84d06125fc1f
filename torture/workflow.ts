import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The task of a prompt for the scripted model: an optional tool use, then a text. */
export interface Task {
  readonly tool?: { readonly name: string; readonly input: Readonly<Record<string, string>> };
  readonly say: string;
}

/** The file with a line for every side effect: its kind, state and turn. */
export const EFFECTS = 'effects.log';

/** The files that turns write into the folder of the project; an undisturbed run has exactly these. */
export const FILES = [
  'plan.txt',
  'part.txt',
  'fresh.txt',
  'joined.txt',
  'raced.txt',
  'late.txt',
  'answer.txt',
] as const;

/** The scripts that may be run again by themselves, because their frontmatter says so. */
export const REPEATABLE: ReadonlySet<string> = new Set(['START.sh', 'ITEM.sh', 'QUICK.sh']);

/** The script whose turns are ended by joins before they are done. */
export const CANCELLED = 'SLOW.sh';

/** The person's answer to the question of the workflow. */
export const ANSWER = 'ship it';

/** Where a workflow keeps what it passes on: in the folders that it gets for that, which are at one worker. */
const OWN = { run: '$RAYMOND_RUN_FOLDER', task: '$RAYMOND_TASK_FOLDER', taskInPrompt: '{{task_folder}}' };

/** The same for one folder, which all workers have. */
export const sharedIn = (folder: string): typeof OWN => ({ run: folder, task: folder, taskInPrompt: folder });

/**
 * A workflow of 31 turns, 12 of them Claude's, with every kind of wait: goto, a loop, call and return, function, a worker, workers for
 * the items of a file, reset, a join of all workers, one that ends the slower worker in time, one whose time is over, a called workflow whose answer is overridden by a pattern and confirmed by a gate, and a question. Scripts write a
 * line when they start and one when they end, the worker's tool one. The agent's own folder and the run's hold what is passed on.
 */
export async function writeWorkflow(folder: string, cwd: string, { run, task, taskInPrompt } = OWN): Promise<void> {
  const write = (name: string, text: string): object => ({
    name: 'Write',
    input: { file_path: /^[/{]/.test(name) ? name : join(cwd, name), content: text },
  });
  const shell = { name: 'Bash', input: { command: `sleep 0.3; echo "tool {{item}} $RAYMOND_TURN" >> ${EFFECTS}` } };
  const results = (file: string): string =>
    `tr ',' '\\n' < "$RAYMOND_RESULTS_FILE" | grep -oE '"(status|result)": *"[^"]*"' > ${file}`;
  await writeStates(folder, {
    'START.sh': repeatable(script(0.3, `printf 'two\\nthree\\n' > "${run}/items.txt"; echo '<goto>PLAN.md</goto>'`)),
    'PLAN.md': prompt({ tool: write(`${taskInPrompt}/plan.txt`, 'the plan\n'), say: '<goto>COUNT.sh</goto>' }),
    'COUNT.sh': script(
      0.2,
      `cp "${task}/plan.txt" plan.txt
n=\${RAYMOND_RESULT:-0}
if [ "$n" -lt 2 ]; then echo "<goto input="$((n + 1))">WORK.md</goto>"; else echo '<goto>ASK.md</goto>'; fi`,
    ),
    'WORK.md': prompt({ say: '<goto input="{{result}}">COUNT.sh</goto>' }),
    'ASK.md': prompt({ say: '<call return="AFTER.md">PART.md</call>' }),
    'PART.md': prompt({ tool: write('part.txt', 'a part\n'), say: '<goto>PARTED.sh</goto>' }),
    'PARTED.sh': script(0.4, `echo '<result>parted</result>'`),
    // Claude Code is started ahead of JUDGE and FRESH.
    'AFTER.md': prompt(
      { say: '<function return="JUDGED.sh">JUDGE.md</function> after {{result}}' },
      'allowed_transitions: [{ tag: function, target: JUDGE.md, return: JUDGED.sh }]',
    ),
    'JUDGE.md': prompt({ say: '<result>judged</result>' }),
    'JUDGED.sh': script(0.3, `echo '<fork next="AGAIN.sh" item="one">WORKER.md</fork>'`),
    'AGAIN.sh': script(0.3, `echo "<fork-each in='${run}/items.txt'>ITEM.sh</fork-each><goto>CLEAN.md</goto>"`),
    'WORKER.md': prompt({ tool: shell, say: '<goto>WORKED.sh</goto>' }, 'allowed_tools: [Bash]'),
    'WORKED.sh': script(0.5, 'echo "<result>worked on $item</result>"'),
    'ITEM.sh': repeatable(
      script(
        0.4,
        'echo "$item" > "$RAYMOND_TASK_FOLDER/item"; echo "<result>$(cat "$RAYMOND_TASK_FOLDER"/*)</result>"',
      ),
    ),
    'CLEAN.md': prompt({ say: '<reset>FRESH.md</reset>' }, 'allowed_transitions: [{ tag: reset, target: FRESH.md }]'),
    'FRESH.md': prompt({
      tool: write('fresh.txt', 'fresh\n'),
      say: '<join>JOINED.sh</join>',
    }),
    'JOINED.sh': script(
      0.2,
      `${results('joined.txt')}
echo '<fork>SLOW.sh</fork><fork>QUICK.sh</fork><join wait="any" cancel="true" timeout="24h" timeout_next="NEVER.sh">RACED.sh</join>'`,
    ),
    'QUICK.sh': repeatable(script(0.4, `echo '<result>quick</result>'`)),
    [CANCELLED]: 'sleep 1000\n',
    'RACED.sh': script(
      0.2,
      `${results('raced.txt')}
echo '<fork>SLOW.sh</fork><join timeout="1s" timeout_next="LATE.sh" cancel="true">NEVER.sh</join>'`,
    ),
    'LATE.sh': script(
      0.2,
      `${results('late.txt')}; echo '<call-workflow return="QUESTION.sh" input="a draft">../other</call-workflow>'`,
    ),
    'QUESTION.sh': script(0.2, 'echo "<ask next=\'END.sh\'>May $RAYMOND_RESULT be published?</ask>"'),
    'NEVER.sh': script(0, `echo '<result>nobody comes here</result>'`),
    'END.sh': script(0.3, `echo "$RAYMOND_RESULT" > answer.txt; echo '<result>all done</result>'`),
  });
  await writeStates(join(folder, '..', 'other'), {
    'START.md': prompt(
      { say: '{{input}} with a TODO <result>unfinished</result>' },
      'evaluator:\n  - { match: TODO, then: { tag: goto, target: FIX.md } }',
    ),
    'FIX.md': prompt(
      { say: '<result>the draft</result>' },
      'evaluator:\n  - { match: TODO, then: { tag: goto, target: FIX.md } }\n  - { script: GATE.sh }',
    ),
    'GATE.sh': script(0.3, 'exit 0'),
  });
}

async function writeStates(folder: string, states: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(states)) await writeFile(join(folder, name), text);
}

const repeatable = (text: string): string => `# ---\n# repeatable: true\n# ---\n${text}`;

const script = (seconds: number, last: string): string => `echo "begin $RAYMOND_STATE $RAYMOND_TURN" >> ${EFFECTS}
sleep ${seconds}
echo "end $RAYMOND_STATE $RAYMOND_TURN" >> ${EFFECTS}
${last}
`;

function prompt(task: object, frontmatter = ''): string {
  const text = `Do as you are told: «task ${JSON.stringify(task)}»\n`;
  return frontmatter === '' ? text : `---\n${frontmatter}\n---\n${text}`;
}
