#!/bin/bash
# Checks every package of packages.txt by a workflow of its own, while the release notes are written.
mkdir -p checked
while read -r package || [ -n "$package" ]; do
  [ -n "$package" ] && echo "<fork-workflow package=\"$package\">check.yaml</fork-workflow>"
done < packages.txt
echo "<goto>CHANGES.md</goto>"
