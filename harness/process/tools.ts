import { existsSync } from 'node:fs';

/** Debian programs that tests require, each with its path and package. */
const tools = {
  nginx: ['/usr/sbin/nginx', 'nginx-light'],
  caddy: ['/usr/bin/caddy', 'caddy'],
  promtool: ['/usr/bin/promtool', 'prometheus'],
  prometheus: ['/usr/bin/prometheus', 'prometheus'],
  'the OpenMetrics parser': [
    '/usr/lib/python3/dist-packages/prometheus_client/openmetrics/parser.py',
    'python3-prometheus-client',
  ],
  'systemd-analyze': ['/usr/bin/systemd-analyze', 'systemd'],
  'docker-compose': ['/usr/bin/docker-compose', 'docker-compose'],
  faketime: ['/usr/bin/faketime', 'faketime'],
  cc: ['/usr/bin/cc', 'gcc libc6-dev'],
  varnish: ['/usr/sbin/varnishd', 'varnish'],
  haproxy: ['/usr/sbin/haproxy', 'haproxy'],
  apache: ['/usr/sbin/apache2', 'apache2'],
  squid: ['/usr/sbin/squid', 'squid'],
  pgbouncer: ['/usr/sbin/pgbouncer', 'pgbouncer'],
  pgpool: ['/usr/sbin/pgpool', 'pgpool2'],
} as const;

/** Name of a Debian program that tests require. */
export type Tool = keyof typeof tools;

/** Returns the path of a Debian program. */
export function toolPath(tool: Tool): string {
  return tools[tool][0];
}

/**
 * Returns true and prints a message if tests that require these programs must be skipped. In CI, throws if a program is
 * missing.
 */
export function lacks(...needed: readonly Tool[]): boolean {
  const missing = needed.filter((tool) => !existsSync(toolPath(tool)));
  if (missing.length === 0) return false;
  const packages = missing.map((tool) => tools[tool][1]).join(' ');
  const what = `missing programs: ${missing.join(', ')} (apt-get install ${packages})`;
  if (process.env.CI !== undefined) throw new Error(what);
  process.stderr.write(`SKIPPED: ${what}\n`);
  return true;
}
