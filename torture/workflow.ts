import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The task of a prompt for the scripted model: an optional tool use, then a text. */
export interface Task {
  readonly tool?: { readonly name: string; readonly input: Readonly<Record<string, string>> };
  readonly say: string;
}

/** The file with a line for every side effect: its kind, state and turn. */
export const EFFECTS = 'effects.log';

/** The files that Claude turns write; an undisturbed run has exactly these. */
export const FILES = ['plan.txt', 'part.txt', 'fresh.txt'] as const;

/**
 * A workflow of 21 turns, 11 of them Claude's, with every kind of transition: goto, a loop, call and return, function,
 * two workers, reset, and a join of the workers. Scripts write a line when they start and one when they end, the workers' tools one.
 */
export async function writeWorkflow(folder: string, cwd: string): Promise<void> {
  const write = (name: string, text: string): object => ({
    name: 'Write',
    input: { file_path: join(cwd, name), content: text },
  });
  const shell = { name: 'Bash', input: { command: `sleep 0.3; echo "tool {{item}} $RAYMOND_TURN" >> ${EFFECTS}` } };
  const states: Record<string, string> = {
    'START.sh': script(0.3, `echo '<goto>PLAN.md</goto>'`),
    'PLAN.md': prompt({ tool: write('plan.txt', 'the plan\n'), say: '<goto>COUNT.sh</goto>' }),
    'COUNT.sh': script(
      0.2,
      `n=\${RAYMOND_RESULT:-0}
if [ "$n" -lt 2 ]; then echo "<goto input="$((n + 1))">WORK.md</goto>"; else echo '<goto>ASK.md</goto>'; fi`,
    ),
    'WORK.md': prompt({ say: '<goto input="{{result}}">COUNT.sh</goto>' }),
    'ASK.md': prompt({ say: '<call return="AFTER.md">PART.md</call>' }),
    'PART.md': prompt({ tool: write('part.txt', 'a part\n'), say: '<goto>PARTED.sh</goto>' }),
    'PARTED.sh': script(0.4, `echo '<result>parted</result>'`),
    'AFTER.md': prompt({ say: '<function return="JUDGED.sh">JUDGE.md</function> after {{result}}' }),
    'JUDGE.md': prompt({ say: '<result>judged</result>' }),
    'JUDGED.sh': script(0.3, `echo '<fork next="AGAIN.sh" item="one">WORKER.md</fork>'`),
    'AGAIN.sh': script(0.3, `echo '<fork next="CLEAN.md" item="two">WORKER.md</fork>'`),
    'WORKER.md': prompt({ tool: shell, say: '<goto>WORKED.sh</goto>' }, 'allowed_tools: [Bash]'),
    'WORKED.sh': script(0.5, 'echo "<result>worked on $item</result>"'),
    'CLEAN.md': prompt({ say: '<reset>FRESH.md</reset>' }),
    'FRESH.md': prompt({ tool: write('fresh.txt', 'fresh\n'), say: '<join>END.sh</join>' }),
    'END.sh': script(0.3, `echo '<result>all done</result>'`),
  };
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(states)) await writeFile(join(folder, name), text);
}

const script = (seconds: number, last: string): string => `echo "begin $RAYMOND_STATE $RAYMOND_TURN" >> ${EFFECTS}
sleep ${seconds}
echo "end $RAYMOND_STATE $RAYMOND_TURN" >> ${EFFECTS}
${last}
`;

function prompt(task: object, frontmatter = ''): string {
  const text = `Do as you are told: «task ${JSON.stringify(task)}»\n`;
  return frontmatter === '' ? text : `---\n${frontmatter}\n---\n${text}`;
}
