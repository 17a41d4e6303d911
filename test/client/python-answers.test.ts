import { describe, expect, it } from 'vitest';
import { runPython, runsPython } from '../../harness/packages/python.ts';

describe.skipIf(!runsPython)('the Python client without a service', () => {
  it('passes its tests against proxies, caches and servers that hang', async () => {
    const { code, stderr } = await runPython(['-W', 'error', '-m', 'unittest', 'tests.test_answers']);
    expect(stderr).toMatch(/\nRan (?:1[1-9]|2\d) tests in [\d.]+s\n\nOK\n$/);
    expect(code).toBe(0);
  });

  it('passes its tests against redirects, proxies that never complete a connection, and forks', async () => {
    const { code, stderr } = await runPython(['-W', 'error', '-m', 'unittest', 'tests.test_network']);
    expect(stderr).toMatch(/\nRan (?:[2-9]|1\d) tests in [\d.]+s\n\nOK\n$/);
    expect(code).toBe(0);
  });

  it('passes its tests against caches that serve expired responses, and with wrong clocks', async () => {
    const { code, stderr } = await runPython(['-W', 'error', '-m', 'unittest', 'tests.test_stale_cache']);
    expect(stderr).toMatch(/\nRan (?:8|9|1\d) tests in [\d.]+s\n\nOK\n$/);
    expect(code).toBe(0);
  });
});
