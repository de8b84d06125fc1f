#!/bin/bash
# Shows the announcement to a person. Files of a question are in the task folder.
cp announcement.md "$RAYMOND_TASK_FOLDER/" || exit 1
cat <<'ASK'
<ask next="DECIDE" choices="Publish|Discard" choices_other="true" timeout="24h" timeout_next="LATE"
     display_files="announcement.md:The announcement">
Publish the announcement? You can also say what to change.
</ask>
ASK
