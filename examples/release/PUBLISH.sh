#!/bin/bash
# Continues when every package is checked; $RAYMOND_RESULT is what the notes came to.
packages=$(grep -c . packages.txt)
for _ in $(seq 3600); do
  if [ "$(ls checked | wc -l)" -ge "$packages" ]; then
    echo "<result>$packages packages, with $RAYMOND_RESULT</result>"
    exit
  fi
  sleep "${seconds:-1}"
done
echo "only $(ls checked | wc -l) of $packages packages were checked" >&2
exit 1
