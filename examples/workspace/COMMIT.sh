#!/bin/bash
# ---
# repeatable: true
# ---
# Commits what was changed. Raymond pushes the branch when the run ends.
git add -A || exit 1
if ! git diff --cached --quiet; then
  git -c user.name=Raymond -c user.email=raymond@localhost commit --quiet -m 'Greet in one more language' || exit 1
fi
echo "<result>$(git branch --show-current)</result>"
