#!/bin/bash
echo "<result>$RAYMOND_RESULT files of prose and code in all</result>"
