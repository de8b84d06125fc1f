#!/bin/bash
# Loops until both numbers are there, then has them added up.
if [ -s .census/md ] && [ -s .census/ts ]; then
  echo '<call return="REPORT">ADD</call>'
else
  sleep 0.1
  echo '<reset>WAIT</reset>'
fi
