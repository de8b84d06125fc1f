#!/bin/bash
rm -r .census
echo "<result>$RAYMOND_RESULT files of prose and code in all</result>"
