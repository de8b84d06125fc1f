#!/bin/bash
# ---
# max_visits: 50000
# ---
# Takes the oldest request from inbox/. If there is none, looks again after a minute (--var seconds=5 makes that five
# seconds). `touch inbox/STOP` ends the run once all requests are done.
mkdir -p inbox done
next=$(ls -tr inbox | grep -v '^STOP$' | head -n 1)
if [ -n "$next" ]; then
  mv "inbox/$next" request.txt
  printf '%s' "$next" > request-name.txt # in a file, because a name may contain a quote
  echo "<reset input-file='request-name.txt'>HANDLE.md</reset>"
elif [ -e inbox/STOP ]; then
  rm inbox/STOP
  echo "<result>stopped; requests done: $(ls done | wc -l | tr -d ' ')</result>"
else
  sleep "${seconds:-60}"
  echo "<reset>START.sh</reset>"
fi
