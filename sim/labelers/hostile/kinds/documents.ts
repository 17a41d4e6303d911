import type { Kind } from '../attack.ts';
import { deepJson } from '../bytes.ts';
import { churnedKey } from '../churned-keys.ts';
import { floodOfLabels } from '../label-bytes.ts';
import { sendJson, sendText } from '../sound.ts';

/** Serves a document with a new key on each request. No signature can be verified. */
export const keyChurn: Kind = {
  name: 'key-churn',
  does: 'has a new key in its document on each request, so no label signature can be verified',
  describe: (sound, { did }, asked) => ({
    ...sound,
    verificationMethod: [
      { id: `${did}#atproto_label`, type: 'Multikey', controller: did, publicKeyMultibase: churnedKey(asked) },
    ],
  }),
  attack: ({ labeler, chance, now }) => ({
    stream: (stream) => {
      stream.every(1_000, () => {
        const signature = Uint8Array.from({ length: 64 }, (_, at) => (at % 32 === 0 ? 1 : chance.below(256)));
        const about = { src: labeler.did, account: labeler.did, nowMs: now(), signature };
        stream.raw(floodOfLabels({ ...about, perFrame: 1, frames: 5 })());
      });
    },
  }),
};

/** Serves a document with a new endpoint on each request. */
export const moving: Kind = {
  name: 'moving',
  does: 'has a new endpoint in its document on each request',
  origins: 4,
  describe: (sound, { endpoints, pds }, asked) => ({
    ...sound,
    service: [
      { id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: pds },
      {
        id: '#atproto_labeler',
        type: 'AtprotoLabeler',
        serviceEndpoint: endpoints[asked % endpoints.length],
      },
    ],
  }),
  attack: () => ({ stream: (stream) => void setTimeout(() => stream.end(), 1_000).unref() }),
};

/** Publishes a document of almost the maximum size in the directory. */
export const hugeDocuments: Kind = {
  name: 'huge-documents',
  does: 'has a document with 400 names and 150 keys in the directory',
  describe: (sound, { did }) => ({
    ...sound,
    alsoKnownAs: Array.from({ length: 400 }, (_, at) => `at://${'x'.repeat(20)}${at}.test`),
    verificationMethod: Array.from({ length: 150 }, (_, at) => ({
      id: `${did}#atproto_label`,
      type: 'Multikey',
      controller: did,
      publicKeyMultibase: churnedKey(at),
    })),
  }),
  attack: () => ({ stream: null }),
};

/** Uses a did:web whose host accepts connections and never responds. */
export const webHangs: Kind = {
  name: 'web-hangs',
  does: 'is a did:web whose document never arrives',
  identity: 'web',
  attack: () => ({ document: () => undefined }),
};

/** Uses a did:web whose document is too large or too deeply nested, has too many services or has another DID. */
export const webDocuments: Kind = {
  name: 'web-documents',
  does: 'is a did:web whose document is too large or too deeply nested, has too many services or has another DID',
  identity: 'web',
  attack: ({ labeler, chance }) => ({
    document: ({ response }, sound) => {
      const which = chance.below(4);
      if (which === 0) sendText(response, `{"id":"${labeler.did}","service":${deepJson(30_000)}}`);
      else if (which === 1) sendText(response, `{"id":"${labeler.did}","pad":"${'x'.repeat(4_000_000)}"}`);
      else if (which === 2) sendJson(response, { ...sound, id: 'did:web:example.com' });
      else sendText(response, `{"id":"${labeler.did}","service":[${'{},'.repeat(20_000)}{}]}`);
    },
    stream: null,
  }),
};
