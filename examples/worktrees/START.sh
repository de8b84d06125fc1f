#!/bin/bash
# ---
# repeatable: true
# ---
# Two workers write into the same file, each in a worktree of its own. MERGE.sh comes when both are done.
echo '<fork worktree="auto" language="German">GREET.md</fork>'
echo '<fork worktree="auto" language="French">GREET.md</fork>'
echo '<join>MERGE.sh</join>'
