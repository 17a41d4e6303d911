import type { Kind } from '../attack.ts';
import { controlFlood, hiddenBytes } from './control-frames.ts';
import { crowds, definitionChurn, identityStorm } from './crowds.ts';
import { deepAnnouncement, deepDefinitions } from './deep-definitions.ts';
import { hugeDocuments, keyChurn, moving, webDocuments, webHangs } from './documents.ts';
import { drip } from './drip.ts';
import { endlessPages } from './endless-pages.ts';
import { emptyFragments, flapping, futureCursors, malformedFlood, outdatedFlood, pingFlood } from './frame-floods.ts';
import { gzipPages } from './gzip-pages.ts';
import { costlyJson, earlyHints, redirects, roulette } from './http-tricks.ts';
import { badSignatures, emptyFrames, fatLabels, foreignLabels, pageFlood, smallLabels } from './label-floods.ts';
import { longBytes } from './long-bytes.ts';
import { refusedAddresses } from './refused-addresses.ts';
import { halfOpen, silent } from './silent.ts';
import { slowPages } from './slow-pages.ts';
import { slowNames, unresolvable } from './unresolvable.ts';
import { wideFrames } from './wide-frames.ts';

/** All kinds of hostile labelers. */
export const kinds: readonly Kind[] = [
  deepDefinitions,
  deepAnnouncement,
  gzipPages,
  wideFrames,
  longBytes,
  unresolvable,
  slowNames,
  refusedAddresses,
  silent,
  halfOpen,
  slowPages,
  drip,
  fatLabels,
  smallLabels,
  pageFlood,
  badSignatures,
  foreignLabels,
  emptyFrames,
  outdatedFlood,
  malformedFlood,
  emptyFragments,
  pingFlood,
  controlFlood,
  hiddenBytes,
  flapping,
  futureCursors,
  endlessPages,
  redirects,
  roulette,
  earlyHints,
  costlyJson,
  keyChurn,
  moving,
  hugeDocuments,
  webHangs,
  webDocuments,
  crowds,
  identityStorm,
  definitionChurn,
];
