#!/bin/bash
# A request that could not be handled does not end the run: it is put aside, with what went wrong.
mkdir -p failed
mv request.txt "failed/$RAYMOND_RESULT"
printf '%s\n' "$RAYMOND_ERROR" > "failed/$RAYMOND_RESULT.error"
echo "<reset>START.sh</reset>"
