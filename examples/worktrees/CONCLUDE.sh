#!/bin/bash
# ---
# repeatable: true
# ---
# Concludes the merge, unless marks of the conflict are left.
if git rev-parse --quiet --verify MERGE_HEAD >/dev/null; then
  if git diff --check | grep -q 'conflict marker'; then
    git diff > "$RAYMOND_TASK_FOLDER/conflict.txt"
    echo "<goto input-file=\"$RAYMOND_TASK_FOLDER/conflict.txt\">RESOLVE.md</goto>"
    exit
  fi
  git commit --quiet --all --no-edit || exit 1
fi
echo '<goto>MERGE.sh</goto>'
