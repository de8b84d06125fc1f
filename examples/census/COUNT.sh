#!/bin/bash
# A worker: its fork's attribute is in its environment.
find . -name "*.$kind" -not -path "*/node_modules/*" -not -path "./dist/*" | wc -l | tr -d " " > "$RAYMOND_TASK_FOLDER/count"
echo "<result>$(cat "$RAYMOND_TASK_FOLDER/count")</result>"
