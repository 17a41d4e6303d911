import { existsSync } from 'node:fs';

/** Programs of Debian that tests need: where each is, and the packages that bring it. */
const tools = {
  nginx: ['/usr/sbin/nginx', 'nginx-light'],
  caddy: ['/usr/bin/caddy', 'caddy'],
  promtool: ['/usr/bin/promtool', 'prometheus'],
  'systemd-analyze': ['/usr/bin/systemd-analyze', 'systemd'],
  faketime: ['/usr/bin/faketime', 'faketime'],
  cc: ['/usr/bin/cc', 'gcc libc6-dev'],
} as const;

/** The name of such a program. */
export type Tool = keyof typeof tools;

/** The path of a program. */
export function toolPath(tool: Tool): string {
  return tools[tool][0];
}

/**
 * Whether tests that need these programs are skipped, which is then said. Where every test must run (CI), a missing
 * program is a fault and not a reason to skip.
 */
export function lacks(...needed: readonly Tool[]): boolean {
  const missing = needed.filter((tool) => !existsSync(toolPath(tool)));
  if (missing.length === 0) return false;
  const packages = missing.map((tool) => tools[tool][1]).join(' ');
  const what = `${missing.join(', ')} not installed (apt-get install ${packages})`;
  if (process.env.CI !== undefined) throw new Error(what);
  process.stderr.write(`SKIPPED: ${what}\n`);
  return true;
}
