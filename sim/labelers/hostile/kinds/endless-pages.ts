import type { Kind } from '../attack.ts';
import { pageLabels } from '../label-bytes.ts';
import { sendJson } from '../sound.ts';

/** Functions for the next cursor, none of which makes progress. */
const tricks = [
  // This cursor returns the same page again.
  (from: number) => from,
  // This cursor returns to the beginning.
  () => 0,
  // This cursor returns to half of the position.
  (from: number) => Math.floor(from / 2),
  // This cursor advances to the largest number.
  () => Number.MAX_SAFE_INTEGER,
] as const;

/** Serves pages that never end. Their cursors stay the same, go back or jump, and their labels have no order. */
export const endlessPages: Kind = {
  name: 'endless-pages',
  does: 'serves pages whose cursor repeats, goes back or jumps, with labels in no order',
  attack: ({ labeler, chance, now }) => {
    const trick = tricks[labeler.index % tricks.length] ?? tricks[0];
    return {
      page: ({ response, target }) => {
        const asked = Number(target.searchParams.get('cursor') ?? 0);
        const labels = pageLabels(labeler.did, labeler.did, chance.below(1_000), 250, now() - chance.below(3_600_000));
        sendJson(response, { cursor: String(trick(asked)), labels: chance.shuffled(labels) });
      },
    };
  },
};
