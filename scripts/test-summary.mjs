// Prints `N passed, M failed, K skipped` from the JSON report that vitest left at the given path.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
// A file that fails before its first test counts as one failure; the report's own total leaves it out.
const unloaded = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
).length;
const failed = report.numFailedTests + unloaded;
console.log(
  `${report.numPassedTests} passed, ${failed} failed, ${report.numPendingTests + report.numTodoTests} skipped`,
);
