import fc from 'fast-check';

/**
 * Random properties take the same cases in every test run, so that a change is judged by what it changes. `npm run
 * properties` takes new cases, and tells the seed with which a failure comes again.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.PROPERTY_SEED ?? 1) });
