import type { Kind } from '../attack.ts';
import { pageLabels } from '../label-bytes.ts';
import { sendJson } from '../sound.ts';

/** Functions that return the next cursor. None of them makes progress. */
const tricks = [
  // Return the same page again.
  (from: number) => from,
  // Return to the beginning.
  () => 0,
  // Go back to half of the position.
  (from: number) => Math.floor(from / 2),
  // Jump to the largest integer.
  () => Number.MAX_SAFE_INTEGER,
] as const;

/** Serves pages without end. The cursors repeat, go back or jump, and the labels are in random order. */
export const endlessPages: Kind = {
  name: 'endless-pages',
  does: 'serves pages whose cursor repeats, goes back or jumps, with labels in random order',
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
