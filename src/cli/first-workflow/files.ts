import { CHECK, MEND, REPORT, START } from './states.ts';

/** Canned answers: the first tour has a mistake in it, so that the loop is seen. */
const ANSWERS = `# What is answered in each state when nobody is to be paid: raymond FOLDER --agent replay:FOLDER/answers.yaml
# Only the answers are canned. Scripts are run, files are written, the costs are counted.
answers:
  START.md:
    text: TOUR.md is written.
    uses: [Glob *, Read README.md]
    write:
      TOUR.md: |
        # A tour

        ## no/such/file

        The script will find that there is no such file, and send the agent to MEND.md.
    cost: 0.03
    seconds: 2
  MEND.md:
    text: That stop did not exist. I have put another in its place. <goto>CHECK.sh</goto>
    write:
      TOUR.md: |
        # A tour

        ## .

        This folder. The tour was written by canned answers; Claude Code would have looked around.
    cost: 0.02
    seconds: 2
  REPORT.md:
    text: <result>A folder whose tour was written by canned answers.</result>
    cost: 0.01
    seconds: 1
`;

/** The workflow that `raymond init` writes: a prompt, a gate that loops back, and a result. */
export const FIRST_WORKFLOW: Readonly<Record<string, string>> = {
  'START.md': START,
  'CHECK.sh': CHECK,
  'MEND.md': MEND,
  'REPORT.md': REPORT,
  'answers.yaml': ANSWERS,
};
