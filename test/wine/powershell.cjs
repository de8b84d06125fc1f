// A stand-in for PowerShell: it notes its arguments and prints the texts that the script writes.
const { appendFileSync, readFileSync, writeSync } = require('node:fs');

const args = process.argv.slice(2);
appendFileSync('calls.jsonl', `${JSON.stringify(args)}\n`);
const script = readFileSync(args[args.indexOf('-File') + 1], 'utf8');
for (const [, text = ''] of script.matchAll(/^Write-Output "(.*)"\r?$/gm))
  writeSync(1, `${text.replace(/\$env:(\w+)/g, (_, name) => process.env[name] ?? '')}\r\n`);
process.exitCode = Number(/^exit (\d+)/m.exec(script)?.[1] ?? 0);
