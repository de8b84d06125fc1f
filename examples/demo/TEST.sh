#!/bin/bash
# Runs the tests. No model is needed to see whether they pass, so this costs nothing.
node --test --test-reporter=tap > test-output.txt 2>&1
failed=$?
grep -E '^# (pass|fail) ' test-output.txt >&2
if [ "$failed" -eq 0 ]; then
  echo '<function return="DECIDE.md">REVIEW.md</function>'
else
  echo '<goto>FIX.md</goto>'
fi
