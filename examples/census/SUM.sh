#!/bin/bash
# After the join: the results of the workers are in a file. A callee adds them up.
echo "<call return=\"REPORT\" input-file=\"$RAYMOND_RESULTS_FILE\">ADD</call>"
