#!/bin/bash
# ---
# repeatable: true
# ---
# Commits what the worker has changed, on the branch of its worktree.
git add -A || exit 1
git diff --cached --quiet || git commit --quiet -m "Greet in $language" || exit 1
echo "<result>$language</result>"
