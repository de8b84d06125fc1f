// Kills what it can, again and again, and compares each run with an undisturbed one.
//   npm run torture -- [--kills 100] [--seed N] …      one command, with its files here
//   npm run torture -- fleet [--rounds 50] [--seed N]  workers on a database
if (process.argv[2] === 'fleet') await import('./fleet-series.ts');
else await import('./kill-series.ts');
