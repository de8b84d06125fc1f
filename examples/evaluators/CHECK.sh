#!/bin/bash
# ---
# description: Confirms if every number of changes.txt is in notes.md.
# repeatable: true
# ---
for number in $(grep -o '^#[0-9]*' changes.txt); do
  grep -q "$number\b" notes.md || echo "$number is missing"
done > missing.txt
[ ! -s missing.txt ] || echo '<goto input-file="missing.txt">FIX.md</goto>'
