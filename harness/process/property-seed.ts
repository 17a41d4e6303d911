import fc from 'fast-check';

/**
 * Seed of property tests that set none, so that chance does not decide over a change. `PROPERTY_SEED` sets another
 * seed, and `npm run gate:steady` uses a new one in each run.
 */
const seed = Number(process.env.PROPERTY_SEED ?? 1);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
