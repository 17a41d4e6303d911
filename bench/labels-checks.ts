/**
 * Measures only signature checks, on the core of this process: `taskset -c 0 node bench/labels-checks.ts`. Prints JSON.
 */
import { encode, toBytes } from '@atcute/cbor';
import { type Curve, SigningKey } from '../sim/labelers/signing-key.ts';
import { createVerifier } from '../src/labels/signatures/verifier.ts';
import { parseLabelKey } from '../src/network/identity/did-document.ts';

const batch = 250;
const seconds = 4;

async function perSecond(curve: Curve): Promise<number> {
  const signer = new SigningKey(curve, 'bench');
  const key = parseLabelKey('Multikey', await signer.multikey());
  if (key === null) throw new Error('a key of the benchmark cannot be parsed');
  const labels = Array.from({ length: batch }, (_, i) => {
    const label = {
      ver: 1,
      src: 'did:web:a.example',
      uri: `did:web:b${i}.example`,
      val: 'spam',
      cts: '2026-11-21T10:00:00.000Z',
    };
    return { ...label, sig: toBytes(signer.sign(encode(label))) };
  });
  const verifier = createVerifier();
  const never = new AbortController().signal;
  let checked = 0;
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    const verdicts = await verifier.verify(labels, { current: [key], earlier: [] }, never);
    if (verdicts.some((verdict) => verdict !== 'verified')) throw new Error('a valid signature was refused');
    checked += batch;
  }
  const rate = checked / ((performance.now() - start) / 1000);
  await verifier.stop();
  return Math.round(rate);
}

process.stdout.write(JSON.stringify({ k256: await perSecond('k256'), p256: await perSecond('p256') }));
