import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderInTest } from '../process/folder.ts';
import { root } from '../process/imports.ts';
import { startForeignInTest } from '../process/program-in-test.ts';
import { type Tool, toolPath } from '../process/tools.ts';
import { answering } from './facts-proxy.ts';
import { freePort } from './ports.ts';

/** A program that runs in the foreground with a configuration in a directory. */
export interface OtherProxy {
  readonly tool: Tool;
  readonly file: string;
  /** Replaces the listening port and the port of the service in the configuration. */
  readonly local: (text: string, port: number, facts: number, folder: string) => string;
  readonly args: (folder: string, file: string, port: number) => readonly string[];
}

/** Varnish, HAProxy, Apache and Squid. */
export const proxies = {
  varnish: {
    tool: 'varnish',
    file: 'deploy/varnish/almanac.vcl',
    local: (text, _port, facts) => text.replace('"8400"', `"${facts}"`),
    args: (folder, file, port) => [
      ...['-F', '-f', file, '-a', `127.0.0.1:${port}`, '-n', join(folder, 'work'), '-s', 'malloc,16m'],
      ...['-j', 'none'],
    ],
  },
  haproxy: {
    tool: 'haproxy',
    file: 'deploy/haproxy/almanac.cfg',
    local: (text, port, facts) => text.replace('bind :80\n', `bind 127.0.0.1:${port}\n`).replace(':8400', `:${facts}`),
    args: (_folder, file) => ['-db', '-f', file],
  },
  apache: {
    tool: 'apache',
    file: 'deploy/apache/almanac.conf',
    local: (text, port, facts, folder) =>
      `ServerRoot ${folder}\nPidFile ${folder}/pid\nErrorLog ${folder}/error.log\nListen 127.0.0.1:${port}\n${[
        ...['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http', 'cache', 'cache_disk', 'expires'],
      ]
        .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`)
        .join('')}${text.replace('*:80', `127.0.0.1:${port}`).replace(':8400', `:${facts}`)}`,
    args: (_folder, file) => ['-D', 'FOREGROUND', '-f', file],
  },
  squid: {
    tool: 'squid',
    file: 'deploy/squid/almanac.conf',
    local: (text, port, facts, folder) =>
      `pid_filename ${folder}/pid\ncache_log ${folder}/cache.log\n${text
        .replace('http_port 80', `http_port 127.0.0.1:${port}`)
        .replace('parent 8400', `parent ${facts}`)}`,
    // The name distinguishes the shared memory of several instances.
    args: (_folder, file, port) => ['-N', '-f', file, '-n', `almanac${port}`],
  },
} as const satisfies Record<string, OtherProxy>;

/** Apache's cache, as its documentation shows it; replaces `ProxyPreserveHost On` in the configuration. */
export const apacheCache =
  'CacheEnable disk /\n\tCacheRoot FOLDER/cache\n\tCacheQuickHandler off\n\tProxyPreserveHost On';

/**
 * Starts a proxy with its configuration in `deploy/`, which `alter` may change, in front of a port of the facts API.
 * Resolves with its address, and stops it after the test.
 */
export async function startProxy(proxy: OtherProxy, facts: number, alter: (text: string) => string): Promise<string> {
  const folder = folderInTest();
  chmodSync(folder, 0o777);
  mkdirSync(join(folder, 'cache'), { mode: 0o777 });
  const port = await freePort();
  const file = join(folder, 'almanac.conf');
  const shipped = readFileSync(join(root, proxy.file), 'utf8');
  const altered = alter(shipped).replaceAll('FOLDER', folder);
  writeFileSync(file, proxy.local(altered, port, facts, folder));
  const program = startForeignInTest(toolPath(proxy.tool), proxy.args(folder, file, port));
  const url = `http://127.0.0.1:${port}`;
  await answering(url, program);
  return url;
}
