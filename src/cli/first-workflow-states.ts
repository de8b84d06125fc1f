/*
 * A prompt is sent as it stands, comments and all; only its frontmatter is for Raymond alone. So everything that the
 * author should know stands there.
 */

/** A prompt with one way on. */
export const START_PROMPT = `---
# A workflow starts in START.md. Between the two lines of dashes you speak to Raymond; Claude sees only what follows.
# Where this state may lead. There is only one way on, so the answer needs no tag.
allowed_transitions:
  - { tag: goto, target: CHECK.sh }
---
Look around in this folder and write TOUR.md, a tour of it for somebody who is new here. If there is a TOUR.md already,
bring it up to date.

Choose one to five files that should be read first, in a good order. Each is a stop of the tour, written like this:

## path/to/the/file

Two or three sentences: what it is for, and what to notice in it.

Paths are relative to this folder. Use headings with ## for stops only.

Stop when TOUR.md is written. Change no other file. Do not check the paths yet; that is the next step.
`;

/** A script that decides, and sends the agent back if it must. */
export const CHECK_SCRIPT = `#!/bin/bash
# What needs no judgement belongs into a script: it costs nothing, and nobody can talk it into anything.
# It runs in the folder that the run works in. It must print one tag, whichever way it goes; what is meant for people
# goes to standard error: echo "..." >&2

problems=""
if [ ! -s TOUR.md ]; then
  problems="TOUR.md is missing or empty."
else
  stops=$(grep -c '^## ' TOUR.md)
  if [ "$stops" -lt 1 ] || [ "$stops" -gt 5 ]; then
    problems="TOUR.md has $stops stops; it should have one to five."
  fi
  while read -r path || [ -n "$path" ]; do
    [ -e "$path" ] || problems="\${problems:+$problems }$path does not exist."
  done < <(sed -n 's/^## //p' TOUR.md | tr -d '\`')
fi

if [ -z "$problems" ]; then
  echo "<goto>REPORT.md</goto>"
else
  # The input is {{result}} in MEND.md. Quotes would end the attribute too early, so they are left out.
  echo "<goto input=\\"$(echo "$problems" | tr -d '"<>')\\">MEND.md</goto>"
fi
`;

/** A prompt that has to choose, in a loop that ends. */
export const MEND_PROMPT = `---
# Every loop needs an end: who would enter this state a fourth time stops the run instead (exit code 4).
max_visits: 3
# There are two ways on, so the answer must choose by its tag. If it forgets, Raymond reminds it.
allowed_transitions:
  - { tag: goto, target: CHECK.sh }
  - { tag: result }
---
A script has looked at TOUR.md and says: {{result}}

Put that right in TOUR.md. Change no other file. Do not sum up the tour yet; that comes later.

When it is right, answer with <goto>CHECK.sh</goto> so that it is checked once more.
If it cannot be put right, answer with <result>no tour: REASON</result>.
`;

/** A prompt that ends the run. */
export const REPORT_PROMPT = `---
# A result ends the run, since nobody called this state. It is printed at the end.
allowed_transitions:
  - { tag: result }
---
Every file in TOUR.md exists. Now say in one sentence what one finds in this folder. Change no file.

Answer with <result>THE SENTENCE</result>.
`;
