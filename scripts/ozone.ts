/**
 * Observes a real Ozone: installs its dependencies into harness/ozone, starts PostgreSQL and Redis for it, and runs
 * harness/ozone/observe.mjs. Requires Debian's `postgresql` and `redis-server`.
 */
import { missingServices, runWithServices } from '../harness/ozone/services.ts';

const missing = missingServices();
if (missing.length > 0) {
  console.error(`missing: apt-get install ${missing.join(' ')}`);
  process.exit(1);
}
process.exitCode = await runWithServices('observe.mjs');
