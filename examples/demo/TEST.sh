#!/bin/bash
# Runs the tests, whoever wrote the code. No model is needed to tell red from green, so this costs nothing.
node --test --test-reporter=tap > test-output.txt 2>&1
failed=$?
grep -E '^# (pass|fail) ' test-output.txt >&2
if [ "$failed" -eq 0 ]; then
  echo '<function return="DECIDE.md">REVIEW.md</function>'
else
  echo '<goto>FIX.md</goto>'
fi
