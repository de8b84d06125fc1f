#!/bin/bash
# One worker for each line of items.txt; each worker knows its line as {{item}} and its number as {{number}}.
if [ ! -s items.txt ]; then
  echo "<result>items.txt is empty: there is nothing to do</result>"
  exit
fi
rm -rf parts && mkdir parts
number=0
while read -r item || [ -n "$item" ]; do
  [ -n "$item" ] || continue
  number=$((number + 1))
  echo "<fork item=\"$item\" number=\"$number\">WORKER.md</fork>"
done < items.txt
echo "<goto>WAIT.sh</goto>"
