import { Secp256k1PrivateKeyExportable } from '@atcute/crypto';
import { expect, test } from 'vitest';
import { readLabel, separateSignature } from '../../../src/labels/label/label-fields.ts';
import { createSignatureCheck } from '../../../src/labels/signatures/signature-check.ts';
import { readFrame } from '../../../src/labels/stream/frame-queue.ts';
import { parseLabelKey } from '../../../src/network/identity/did-document.ts';

/**
 * Frames that the labeler in Go (github.com/bsky-watch/labeler at bf2d37a) sent in a run of ours, in order. Its key was
 * 32 bytes of 01. Unlike Ozone and skyware, it signs a label again at each delivery, and authors it in whole seconds.
 */
const recorded = [
  'a2617467236c6162656c73626f7001a26373657101666c6162656c7381a66363747374323032362d31312d32385431303a30363a35315a637369675840edf703a87d733698345478c779b150d3ec78bec92e03af9e35dcb8f6038bc24441baee029711feb0c158b4d3055559df5daf7bbcda02ba14f3f21e74afaec2796373726378206469643a706c633a6c6162656c65726c6162656c65726c6162656c65726c61626375726978206469643a706c633a6161616161616161616161616161616161616161616161616376616c647370616d6376657201',
  'a2617467236c6162656c73626f7001a26373657102666c6162656c7381a863636964783b62616679726569653563767634683435666561646765757768626375746d68367432636573656f63636b6168646f653675617436347a6d7a3435346363747374323032362d31312d32385431303a30363a35315a6365787074323032372d30312d30315430303a30303a30305a637369675840e07aa56abde3abae940309fbaab0eef59c2968e38c54c14330878e76b29a15316d55559ff65fe0e4849983d81a3ac0dfad776d5efdc4738c21e5dd3526dae0766373726378206469643a706c633a6c6162656c65726c6162656c65726c6162656c65726c616263757269783e61743a2f2f6469643a706c633a6161616161616161616161616161616161616161616161612f6170702e62736b792e666565642e706f73742f336b6162636376616c64727564656376657201',
  'a2617467236c6162656c73626f7001a26373657103666c6162656c7381a76363747374323032362d31312d32385431303a30363a35315a636e6567f563736967584099fbdafa455fb68386a53088bc5b97a73c3a5b7c949f5f0c609ff15c94e069084fe90adfe60fd6b0943f09fefb568a3dde9df37e22ea0423fc69554b0896fc266373726378206469643a706c633a6c6162656c65726c6162656c65726c6162656c65726c61626375726978206469643a706c633a6161616161616161616161616161616161616161616161616376616c647370616d6376657201',
].map((hex) => Buffer.from(hex, 'hex'));
/** Its frame for a cursor beyond the newest label, which has no message. No close frame follows. */
const futureCursor = Buffer.from('a1626f7020a1656572726f726c467574757265437572736f72', 'hex');
const account = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

/** Returns the content of a frame with one label, and whether the label's signature is valid. */
async function read(frame: Uint8Array) {
  const secret = await Secp256k1PrivateKeyExportable.importRaw(new Uint8Array(32).fill(1));
  const key = parseLabelKey('Multikey', await secret.exportPublicKey('multikey'));
  const content = readFrame(frame);
  const received = (content.kind === 'labels' ? content.labels : [])[0] as Readonly<Record<string, unknown>>;
  const label = readLabel(received);
  if (key === null || content.kind !== 'labels' || typeof label === 'string') return content.kind;
  const signed = separateSignature(received);
  const isValid = signed.kind === 'signed' && (await createSignatureCheck()(signed, key));
  const { uri, val, neg, exp, cts } = label;
  return { seq: content.seq, label: { uri, val, neg, exp, cts }, isValid };
}

test('the recorded frames of a labeler in Go are read, and their signatures are valid', async () => {
  const cts = '2026-11-28T10:06:51Z';
  expect(await Promise.all(recorded.map(read))).toEqual([
    { seq: 1, label: { uri: account, val: 'spam', cts }, isValid: true },
    {
      seq: 2,
      label: { uri: `at://${account}/app.bsky.feed.post/3kabc`, val: 'rude', exp: '2027-01-01T00:00:00Z', cts },
      isValid: true,
    },
    { seq: 3, label: { uri: account, val: 'spam', neg: true, cts }, isValid: true },
  ]);
});

test('its error for a cursor in the future is recognised without a message', () => {
  expect(readFrame(futureCursor)).toEqual({ kind: 'future_cursor' });
});
