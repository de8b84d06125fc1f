import { WORKFLOW_SCHEMAS } from './first-workflow-schemas.ts';
import { CHECK_SCRIPT, MEND_PROMPT, REPORT_PROMPT, START_PROMPT } from './first-workflow-states.ts';

/** A comment by which an editor finds what a file may hold. The schema stands beside it: no other place is sure to be there. */
const formatSchemaReference = (schema: 'frontmatter' | 'scenario'): string =>
  `# yaml-language-server: $schema=./${schema}.schema.json\n`;

const addSchemaReference = (prompt: string): string =>
  prompt.replace('---\n', `---\n${formatSchemaReference('frontmatter')}`);

/** Canned answers: the first tour has a mistake in it, so that the loop is seen. */
const ANSWERS = `${formatSchemaReference('scenario')}# What is answered in each state when nobody is to be paid: raymond FOLDER --agent replay:FOLDER/answers.yaml
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

/** A test: the same answers, and what should come of them. */
const SCENARIO = `${formatSchemaReference('scenario')}# A test: what should come of the canned answers. It costs nothing: raymond test FOLDER
name: a stop that does not exist is mended
answers_from: answers.yaml
expect:
  # The states that are entered, in order.
  path: [START, CHECK, MEND, CHECK, REPORT]
  # What is sent to Claude: here {{result}} has become what the script says.
  prompts:
    MEND: { contains: "says: no/such/file does not exist.", lacks: "{{" }
  files:
    TOUR.md: { lacks: no/such/file }
  result: A folder whose tour was written by canned answers.
`;

/** The workflow that `raymond init` writes: a prompt, a gate that loops back, and a result. */
export const FIRST_WORKFLOW: Readonly<Record<string, string>> = {
  'START.md': addSchemaReference(START_PROMPT),
  'CHECK.sh': CHECK_SCRIPT,
  'MEND.md': addSchemaReference(MEND_PROMPT),
  'REPORT.md': addSchemaReference(REPORT_PROMPT),
  'answers.yaml': ANSWERS,
  'tour.test.yaml': SCENARIO,
  ...WORKFLOW_SCHEMAS,
};
