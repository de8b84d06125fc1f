#!/bin/bash
# A choice arrives as its label; any other text says what to change.
case "$RAYMOND_INPUT" in
  Publish) echo "<goto>PUBLISH</goto>" ;;
  Discard) echo "<result>not published: it was discarded</result>" ;;
  *)
    printf '%s\n' "$RAYMOND_INPUT" > "$RAYMOND_TASK_FOLDER/wish.txt" || exit 1
    echo "<goto input-file=\"$RAYMOND_TASK_FOLDER/wish.txt\">CHANGE</goto>"
    ;;
esac
