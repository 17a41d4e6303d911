import type { Kind } from '../attack.ts';
import { sendJson, sendRecord } from '../sound.ts';

/** Delay just below the request timeout, in milliseconds. */
const delayMs = 28_000;

/** Responds to requests for pages and records just before their timeout. */
export const slowPages: Kind = {
  name: 'slow-pages',
  does: 'responds to every page and record after 28 s',
  attack: ({ labeler }) => ({
    page: ({ response }) => {
      const timer = setTimeout(() => sendJson(response, { labels: [] }), delayMs);
      response.once('close', () => clearTimeout(timer));
    },
    record: ({ response }) => {
      const timer = setTimeout(() => sendRecord(response, labeler.did, '{}'), delayMs);
      response.once('close', () => clearTimeout(timer));
    },
  }),
};
