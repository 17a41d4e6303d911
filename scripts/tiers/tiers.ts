/**
 * Lists the test files of `npm test` by tier, and the test files of `npm run test:proof`. A test file that is in no
 * list belongs to the tier of its directory.
 */

/**
 * Tests in `src/` that create a FIFO or a server, or use the system's resolver, and therefore run in the system tier.
 */
export const outsideUnitTier: readonly string[] = [
  'src/artifact/file-source.test.ts',
  'src/artifact/url-source.test.ts',
  'src/network/guard/address-policy.test.ts',
];

/** Tests that open pages in a browser. */
export const pagesTier: readonly string[] = [
  'test/account/escape.test.ts',
  'test/account/page.test.ts',
  'test/client/browser.test.ts',
  'test/docs/page.test.ts',
  'test/docs/policy.test.ts',
  'test/facts/archive-page.test.ts',
  'test/facts/embeds-page.test.ts',
  'test/facts/labelers-page.test.ts',
  'test/facts/observatory-page.test.ts',
];

/**
 * Long proofs: repeated kills, simulated days, comparisons with the data that was sent, sieges, failing system calls,
 * random damage, installed packages and the independent verifier of archives.
 */
export const proofTier: readonly string[] = [
  'test/account/fuzz.test.ts',
  'test/account/languages.test.ts',
  'test/account/model.test.ts',
  'test/account/observed.test.ts',
  'test/account/siege-proxies.test.ts',
  'test/account/siege.test.ts',
  'test/archive/independent.test.ts',
  'test/archive/kill.test.ts',
  'test/archive/month.test.ts',
  'test/client/client-package.test.ts',
  'test/client/generated-clients.test.ts',
  'test/client/package.test.ts',
  'test/facts/model.test.ts',
  'test/facts/mutation.test.ts',
  'test/input/fuzz.test.ts',
  'test/labels/hand-over.test.ts',
  'test/labels/kill.test.ts',
  'test/labels/seeds.test.ts',
  'test/labels/siege.test.ts',
  'test/labels/truth.test.ts',
  'test/main/day.test.ts',
  'test/main/labeler-states.test.ts',
  'test/main/packed.test.ts',
  'test/store/conformance/copying-others.test.ts',
  'test/store/conformance/model.test.ts',
  'test/store/copy-kill.test.ts',
  'test/store/damage-cases.test.ts',
  'test/store/full-disk.test.ts',
  'test/store/kill.test.ts',
  'test/store/postgres/kill.test.ts',
  'test/store/purge-kill.test.ts',
  'test/store/system-call-faults.test.ts',
  'test/weather/faults.test.ts',
  'test/weather/kill.test.ts',
  'test/weather/liar.test.ts',
  'test/weather/muted.test.ts',
  'test/weather/truth.test.ts',
];

/** Proofs that run one at a time, after the others, because they measure states and recoveries by time. */
export const proofsThatRunAlone: readonly string[] = ['test/labels/siege.test.ts'];

/**
 * Test files that take longer than 16 seconds on two busy cores. In each tier, the longest comes first, because a long
 * file that starts last would delay the end of the run.
 */
export const longFiles: readonly string[] = [
  'test/labels/hand-over.test.ts',
  'test/account/observed.test.ts',
  'test/account/languages.test.ts',
  'test/labels/siege.test.ts',
  'test/main/labeler-states.test.ts',
  'test/store/system-call-faults.test.ts',
  'test/weather/kill.test.ts',
  'test/weather/truth.test.ts',
  'test/labels/seeds.test.ts',
  'test/facts/mutation.test.ts',
  'test/store/kill.test.ts',
  'test/account/siege.test.ts',
  'test/weather/faults.test.ts',
  'test/account/model.test.ts',
  'test/main/day.test.ts',
  'test/account/siege-proxies.test.ts',
  'test/store/purge-kill.test.ts',
  'test/labels/kill.test.ts',
  'test/facts/model.test.ts',
  'test/weather/liar.test.ts',
  'test/labels/truth.test.ts',
  'test/input/fuzz.test.ts',
  'test/store/conformance/copying-others.test.ts',
  'test/store/conformance/model.test.ts',
  'test/account/fuzz.test.ts',
  'test/weather/muted.test.ts',
  'test/export/faults.test.ts',
  'test/labels/reading/gaps.test.ts',
  'test/store/conformance/copying.test.ts',
  'test/labels/ingest/acceptance.test.ts',
  'test/labels/command.test.ts',
  'test/main/demo.test.ts',
  'test/main/doctor.test.ts',
  'test/account/processes.test.ts',
  'test/store/space-rows.test.ts',
  'test/main/few-kills.test.ts',
  'test/main/up.test.ts',
  'test/labels/reading/outage.test.ts',
  'test/facts/observatory-page.test.ts',
  'test/account/page.test.ts',
  'test/facts/labelers-page.test.ts',
  'test/account/exports.test.ts',
  'test/weather/life.test.ts',
  'test/export/formats.test.ts',
  'test/store/earlier-schema.test.ts',
  'test/store/move-store.test.ts',
  'test/labels/ingest/floods.test.ts',
  'test/main/cli.test.ts',
  'test/archive/independent.test.ts',
  'test/store/conformance/purging.test.ts',
  'test/labels/reading/positions.test.ts',
  'test/weather/events.test.ts',
  'test/archive/archive.test.ts',
  'test/main/postgres.test.ts',
  'test/weather/classifier.test.ts',
  'test/labels/operator/denied.test.ts',
  'test/store/altered-day.test.ts',
  'test/store/conformance/keeping.test.ts',
  'test/facts/page-figures.test.ts',
  'test/store/busy-counts.test.ts',
  'test/weather/hosts.test.ts',
  'test/labels/labelers-oracle.test.ts',
  'test/labels/roster/directory.test.ts',
  'test/facts/hostile.test.ts',
  'test/docs/examples.test.ts',
  'test/facts/process.test.ts',
  'test/labels/lost-commits.test.ts',
  'test/labels/restored.test.ts',
  'test/account/standbys.test.ts',
  'test/weather/events-classifier.test.ts',
  'test/http/scripts.test.ts',
  'test/store/sqlite.test.ts',
  'test/store/conformance/accepting.test.ts',
];
