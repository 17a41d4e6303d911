import { base32 } from '../../../events/identifiers.ts';
import type { Kind } from '../attack.ts';
import { crowdPrefix } from '../crowd.ts';
import { commitText, identityFrameText } from '../jetstream.ts';

const record =
  '{"$type":"app.bsky.labeler.service","policies":{"labelValues":["spam"]},"createdAt":"2026-01-05T09:00:00Z"}';

/** Number of accounts that one labeler announces. */
const crowdSize = 100_000;

/**
 * Announces a very large number of accounts as labelers. Half of the accounts do not exist, and the endpoints of the
 * others refuse connections.
 */
export const crowds: Kind = {
  name: 'crowds',
  does: 'makes 100,000 accounts declare themselves labelers on the Jetstream, 200 per second',
  attack: ({ chance }) => {
    let named = 0;
    return {
      stream: null,
      announce: () => {
        if (named >= crowdSize) return [];
        named += 20;
        return Array.from({ length: 20 }, () =>
          commitText(`${crowdPrefix}${chance.text(base32, 32 - crowdPrefix.length)}`, record),
        );
      },
    };
  },
};

/** Endlessly announces identity changes, both of the labeler itself and of others. */
export const identityStorm: Kind = {
  name: 'identity-storm',
  does: 'makes the Jetstream report 200 identity changes per second',
  attack: ({ labeler, others, chance }) => ({
    stream: null,
    announce: () =>
      Array.from({ length: 20 }, () => identityFrameText(chance.chance(0.5) ? labeler.did : chance.pick(others()))),
  }),
};

/** Endlessly rewrites the labeler's record, each time with different definitions of almost the maximum size. */
export const definitionChurn: Kind = {
  name: 'definition-churn',
  does: 'rewrites its record every second with 200 kB of new definitions',
  attack: ({ labeler }) => {
    let rounds = 0;
    return {
      stream: null,
      announce: () => {
        rounds += 1;
        if (rounds % 10 !== 0) return [];
        const filler = `${rounds}`.padEnd(200_000, 'x');
        return [
          commitText(
            labeler.did,
            `{"$type":"app.bsky.labeler.service","createdAt":"2026-01-05T09:00:00Z","policies":{"labelValues":["spam"],"labelValueDefinitions":[{"identifier":"spam","pad":"${filler}"}]}}`,
          ),
        ];
      },
    };
  },
};
