import { base32 } from '../../../events/identifiers.ts';
import type { AttackTools, Kind } from '../attack.ts';
import { floodOfEmptyFrames, floodOfLabels, pageLabels } from '../label-bytes.ts';
import { sendJson } from '../sound.ts';

function account({ chance }: AttackTools): string {
  return `did:plc:${chance.text(base32, 24)}`;
}

/** Sends labels of almost the maximum size, as fast as the consumer reads them. */
export const fatLabels: Kind = {
  name: 'fat-labels',
  does: 'streams labels of 15 kB at full speed',
  attack: (tools) => ({
    stream: (stream) => {
      const { labeler, now } = tools;
      const about = { src: labeler.did, account: account(tools), nowMs: now() };
      stream.flood(floodOfLabels({ ...about, perFrame: 4, frames: 1, padding: 15_000 }));
    },
  }),
};

/** Sends small labels, as fast as the consumer reads them. */
export const smallLabels: Kind = {
  name: 'small-labels',
  does: 'streams small labels at full speed',
  attack: (tools) => ({
    stream: (stream) => {
      const { labeler, now } = tools;
      const about = { src: labeler.did, account: account(tools), nowMs: now() };
      stream.flood(floodOfLabels({ ...about, perFrame: 1, frames: 100 }));
    },
  }),
};

/** Serves an endless sequence of pages, each full of new labels. */
export const pageFlood: Kind = {
  name: 'page-flood',
  does: 'serves 250 new labels and a higher cursor on every page, and has no stream',
  attack: (tools) => {
    const about = account(tools);
    return {
      page: ({ response, target }) => {
        const from = Number(target.searchParams.get('cursor') ?? 0);
        const labels = pageLabels(tools.labeler.did, about, from, 250, tools.now());
        sendJson(response, { cursor: String(from + 250), labels });
      },
    };
  },
};

/** Sends labels with invalid signatures. A reader must check each of them. */
export const badSignatures: Kind = {
  name: 'bad-signatures',
  does: 'streams labels with wrong signatures at full speed',
  attack: (tools) => ({
    stream: (stream) => {
      const { labeler, now, chance } = tools;
      // The signature passes every cheap check: r and s are below the order of the curve, and s is in the lower half.
      const signature = Uint8Array.from({ length: 64 }, (_, at) => (at % 32 === 0 ? 1 : chance.below(256)));
      const about = { src: labeler.did, account: account(tools), nowMs: now() };
      stream.flood(floodOfLabels({ ...about, perFrame: 20, frames: 10, signature }));
    },
  }),
};

/** Sends labels that name another labeler as `src`. A reader must read all of them and store none. */
export const foreignLabels: Kind = {
  name: 'foreign-labels',
  does: 'streams labels with the DID of another labeler at full speed',
  attack: (tools) => ({
    stream: (stream) => {
      const src = tools.chance.pick(tools.others());
      stream.flood(floodOfLabels({ src, account: account(tools), nowMs: tools.now(), perFrame: 50, frames: 4 }));
    },
  }),
};

/** Sends frames without labels. Each frame advances the position. */
export const emptyFrames: Kind = {
  name: 'empty-frames',
  does: 'streams frames without labels and with increasing seq, at full speed',
  attack: () => ({ stream: (stream) => stream.flood(floodOfEmptyFrames(200)) }),
};
