#!/bin/bash
# A callee: only its result goes back to REPORT.
sum=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).reduce((sum, { result }) => sum + Number(result), 0)' "$RAYMOND_RESULT_FILE")
echo "<result>$sum</result>"
