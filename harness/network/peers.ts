import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import {
  answers,
  type JetstreamPlace,
  type Peer,
  servesSubscriptions,
  startJetstream,
  startPeer,
} from '../jetstream/peers.ts';
import { freePort } from '../net/ports.ts';

/** A running program with an address on 127.0.0.1. */
interface Served {
  readonly peer: Peer;
  readonly url: string;
}

/** Password of the relay's administrator, which is valid only in the run. */
export const relayPassword = 'relay-pass';

/**
 * Starts the reference relay, subscribed to hosts of accounts on loopback (`localhost:PORT`). A relay accepts no such
 * host over its API, because it looks for a host only at public addresses. Therefore the hosts are added to its database
 * between two starts.
 */
export async function startRelay(
  file: string,
  home: string,
  hosts: readonly string[],
  directory: string,
): Promise<Served> {
  const folder = join(home, 'relay');
  mkdirSync(folder);
  const start = async (): Promise<Served> => {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}`;
    const peer = startPeer(
      file,
      [
        ...['--plc-host', directory, '--admin-password', relayPassword, '--log-level', 'info'],
        ...['serve', '--bind', `127.0.0.1:${port}`, '--metrics-listen', `127.0.0.1:${metricsPort}`],
        ...['--db-url', `sqlite://${folder}/relay.sqlite`, '--persist-dir', join(folder, 'persist')],
        ...['--disable-request-crawl', '--allow-insecure-hosts'],
      ],
      home,
    );
    await answers(peer, `${url}/xrpc/_health`);
    return { peer, url };
  };
  const first = await start();
  await first.peer.signal('SIGTERM');
  const database = new Database(join(folder, 'relay.sqlite'));
  const now = new Date().toISOString();
  const added = database.prepare(
    `INSERT INTO host (created_at, updated_at, hostname, no_ssl, account_limit, trusted, status, last_seq)
     VALUES (?, ?, ?, 1, 100000, 1, 'active', -1)`,
  );
  for (const host of hosts) added.run(now, now, host);
  database.close();
  return start();
}

/** Starts the service that lists accounts by the collections of their records, from a relay's stream. */
export async function startCollections(file: string, home: string, relay: string): Promise<Served> {
  const folder = join(home, 'collections');
  mkdirSync(join(folder, 'days'), { recursive: true });
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const peer = startPeer(
    file,
    [
      ...['serve', '--api-listen', `127.0.0.1:${port}`, '--metrics-listen', `127.0.0.1:${metricsPort}`],
      ...['--pebble', join(folder, 'all'), '--dau-directory', join(folder, 'days'), '--upstream', relay],
    ],
    home,
  );
  await answers(peer, `${url}/_health`);
  return { peer, url };
}

/** Starts a Jetstream that reads a relay with an empty history. Resolves once it serves subscriptions. */
export async function startRelayedJetstream(file: string, home: string, relay: string, directory: string) {
  const [port, debugPort] = [await freePort(), await freePort()];
  const place: JetstreamPlace = {
    ...{ file, home, relay, directory, port, debugPort },
    args: ['--skip-merge-discovery'],
  };
  const peer = await startJetstream(place);
  await servesSubscriptions(place);
  return { peer, place, url: `ws://127.0.0.1:${port}` };
}

/** Settings of the labeler in Go. */
interface GoLabelerOptions {
  readonly did: string;
  /** Private key (secp256k1) in hexadecimal. */
  readonly privateKey: string;
  /** Path of its database, which it creates. */
  readonly database: string;
  /** Label values that it accepts. */
  readonly values: readonly string[];
}

/** A running labeler in Go. */
interface GoLabeler extends Served {
  /** Address of its interface for labels, without a password. */
  readonly adminUrl: string;
}

/** Starts the labeler in Go on new ports. With the same database it continues with the same labels. */
export async function startGoLabeler(file: string, home: string, options: GoLabelerOptions): Promise<GoLabeler> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const config = join(home, `labeler-${port}.yaml`);
  const { did, privateKey, database, values } = options;
  // JSON is valid YAML.
  const settings = { sqlite_db: database, private_key: privateKey, did, labels: { labelvalues: values } };
  writeFileSync(config, JSON.stringify(settings));
  const url = `http://localhost:${port}`;
  const peer = startPeer(
    file,
    [...[`-config=${config}`, `-listen-addr=127.0.0.1:${port}`, `-admin-addr=127.0.0.1:${adminPort}`], '-log-level=1'],
    home,
  );
  await answers(peer, `${url}/xrpc/com.atproto.label.queryLabels`);
  return { peer, url, adminUrl: `http://127.0.0.1:${adminPort}/label` };
}
