#!/bin/bash
# ---
# max_visits: 5
# ---
# Three lines, or back to the writer.
if [ "$(grep -c . greetings.txt)" -eq 3 ]; then
  echo "<result>$(cat greetings.txt)</result>"
else
  echo "<goto>WRITE.md</goto>"
fi
