#!/bin/bash
# One worker for each line of items.txt, which knows its line as {{item}} and its number as {{index}}; MERGE.md comes when all are done.
if ! grep -q '[^[:space:]]' items.txt; then
  echo '<result>items.txt is empty: there is nothing to do</result>'
  exit
fi
echo '<fork-each in="items.txt">WORKER.md</fork-each>'
echo '<join>MERGE.md</join>'
