#!/bin/bash
# A worker: its fork's attribute is in its environment. It leaves its number where the others find it.
mkdir -p .census
find . -name "*.$kind" -not -path "*/node_modules/*" -not -path "./dist/*" | wc -l | tr -d " " > ".census/$kind"
echo "<result>$(cat ".census/$kind") files end in .$kind</result>"
