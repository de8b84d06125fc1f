import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EFFECTS } from './workflow.ts';

/**
 * A workflow without Claude Code, for a fleet: scripts, canned answers, workers for items, a join, a call and a question. Every script
 * writes a line when it starts and one when it ends.
 */
export async function writeFleetWorkflow(folder: string): Promise<void> {
  const states = {
    'START.sh': script(0.1, `printf '1\\n2\\n3\\n4\\n' > items.txt; echo '<goto>PLAN.md</goto>'`),
    'PLAN.md': 'Make a plan.\n',
    'SPREAD.sh': script(0.1, `echo '<fork-each in="items.txt">ITEM.sh</fork-each><join>JOINED.sh</join>'`),
    'ITEM.sh': `# ---\n# repeatable: true\n# ---\n${script(0.3, 'echo "<goto>REVIEW.md</goto>"')}`,
    'REVIEW.md': 'Review {{item}}.\n',
    'DONE.sh': script(0.1, 'echo "<result>item $item</result>"'),
    'JOINED.sh': script(
      0.1,
      `grep -oE '"result": *"[^"]*"' "$RAYMOND_RESULTS_FILE" > joined.txt; echo '<call return="ASK.sh">PART.sh</call>'`,
    ),
    'PART.sh': script(0.2, `echo '<result>parted</result>'`),
    'ASK.sh': script(0.1, `echo '<ask next="END.sh">Publish it?</ask>'`),
    'END.sh': script(0.1, `echo "$RAYMOND_RESULT" > answer.txt; echo '<result>all done</result>'`),
    'answers.yaml': `answers:
  PLAN.md: { text: "<goto>SPREAD.sh</goto>", cost: 0.01, seconds: 0.2 }
  REVIEW.md: { text: "<goto>DONE.sh</goto>", cost: 0.005, seconds: 0.2 }
`,
  };
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(states)) await writeFile(join(folder, name), text);
}

const script = (
  seconds: number,
  last: string,
  effects: string = EFFECTS,
): string => `echo "begin $RAYMOND_STATE $RAYMOND_TURN" >> ${effects}
sleep ${seconds}
echo "end $RAYMOND_STATE $RAYMOND_TURN" >> ${effects}
${last}
`;

/**
 * A workflow that works in a clone, with agents in worktrees of their own, which are spread over the workers: each commits, and what they
 * have pushed is merged. What is compared is in a folder besides.
 */
export async function writeCloneWorkflow(folder: string, cwd: string): Promise<void> {
  const effects = join(cwd, EFFECTS);
  const work = (seconds: number, last: string): string => script(seconds, last, effects);
  const states = {
    'START.sh': work(0.1, `${commit('main')}\necho "<reset>FORK.sh</reset>"`),
    'FORK.sh': work(
      0.1,
      `for n in 1 2 3; do echo "<fork worktree='auto' n='$n'>PART.sh</fork>"; done; echo "<join>MERGE.sh</join>"`,
    ),
    'PART.sh': work(0.3, `${commit('part$n')}\necho "<goto>MORE.sh</goto>"`),
    'MORE.sh': work(0.3, `${commit('more$n')}\necho "<result>part $n</result>"`),
    'MERGE.sh': work(
      0.1,
      `git merge --abort 2> /dev/null; for n in 1 2 3; do
  branch="raymond/\${RAYMOND_TURN%%/*}/main_part$n"
  git fetch -q origin "$branch" 2> /dev/null && branch=FETCH_HEAD
  git ${AUTHOR} merge -q --no-edit "$branch" 2>&1 | grep -v "up to date"
done
ls > "${cwd}/joined.txt"
echo "<result>all done</result>"`,
    ),
  };
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(states)) await writeFile(join(folder, name), text);
}

const AUTHOR = '-c user.name=Ada -c user.email=ada@example.com';

/** Commits a file, also if a kill has left something half done. */
const commit = (name: string): string =>
  `rm -f "$(git rev-parse --git-dir)/index.lock"; echo x > "${name}"; git add . && (git diff --cached --quiet || git ${AUTHOR} commit -qm "${name}")`;
