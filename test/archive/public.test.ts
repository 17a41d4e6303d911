import { createPublicKey } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closedDays } from '../../harness/archive/forge.ts';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';
import { formatLeaf } from '../../src/archive/days/records.ts';
import { inclusionProof, leafHash } from '../../src/archive/log/merkle.ts';

/** Tests the log of an archive with Sigstore's verifier for transparency logs, which is part of npm. */

interface SigstoreCheckpoint {
  readonly origin: string;
  readonly logSize: bigint;
  readonly logHash: Buffer;
}

/** The functions of the verifier that this test calls. */
interface Sigstore {
  verifyCheckpoint(entry: object, logs: readonly object[]): SigstoreCheckpoint;
  verifyMerkleInclusion(entry: object, checkpoint: SigstoreCheckpoint): void;
}

/** Returns the verifier from this machine's npm, or null if there is none. */
function sigstoreOfNpm(): Sigstore | null {
  const npm = (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, 'npm'))
    .find((path) => existsSync(path));
  const folder = npm && join(dirname(realpathSync(npm)), '..', 'node_modules', '@sigstore', 'verify', 'dist', 'tlog');
  if (folder === undefined || !existsSync(join(folder, 'merkle.js'))) return null;
  const load = createRequire(join(folder, 'index.js'));
  return { ...(load('./checkpoint.js') as object), ...(load('./merkle.js') as object) } as Sigstore;
}

const sigstore = sigstoreOfNpm();
/** Prefix of the DER encoding of an Ed25519 public key (RFC 8410). */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

describe.skipIf(sigstore === null)("Sigstore's verifier", () => {
  it('accepts the checkpoint of an archive and the inclusion of every closed day, and rejects an altered checkpoint or day', async () => {
    if (!sigstore) return;
    const archive = simulateArchive();
    await archive.run(24 * 5 + 1);
    // Such a verifier knows only the directory of the log, whose key also names the origin.
    const read = (path: string): string => archive.content.get(`log/${path}`)?.toString('utf8') ?? '';
    const [, name = '', id = '', encoded = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)\n$/.exec(read('vkey')) ?? [];
    const spki = Buffer.concat([ed25519Prefix, Buffer.from(encoded, 'base64').subarray(1)]);
    const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    const envelope = read('checkpoint');
    const log = { logID: Buffer.from(id, 'hex'), baseURL: name, publicKey };
    const open = (text: string): SigstoreCheckpoint =>
      sigstore.verifyCheckpoint({ inclusionProof: { checkpoint: { envelope: text } } }, [log]);
    const checkpoint = open(envelope);
    expect(checkpoint).toMatchObject({ origin: name, logSize: 3n });
    expect(() => open(envelope.replace('\n3\n', '\n4\n'))).toThrow('invalid checkpoint signature');

    const entries = closedDays(archive.content).map(({ day, sha256 }) => formatLeaf({ day, sha256 }));
    const bundle = archive.content.get('log/tile/entries/000.p/3') ?? Buffer.alloc(0);
    const leaves = entries.map(leafHash);
    const includes = (entry: Buffer, index: number): void => {
      const hashes = inclusionProof(leaves, index);
      const proof = { logIndex: String(index), hashes };
      sigstore.verifyMerkleInclusion({ canonicalizedBody: entry, inclusionProof: proof }, checkpoint);
    };
    for (const [index, entry] of entries.entries()) {
      expect(bundle.includes(entry)).toBe(true);
      expect(() => includes(entry, index)).not.toThrow();
      expect(() => includes(Buffer.from(entry.toString().replace('2026', '2025')), index)).toThrow('root hash');
    }
    expect(entries).toHaveLength(3);
  });
});
