/** Prefix of the crowd's DIDs. The directory recognises these DIDs by the prefix, so it needs no list of them. */
export const crowdPrefix = 'did:plc:crwd';

/**
 * Returns the document of a DID in the crowd. Returns null for DIDs outside the crowd, and for half of the DIDs in it,
 * which do not exist. The endpoints in the documents refuse connections.
 */
export function crowdDocument(did: string): Record<string, unknown> | null {
  if (!did.startsWith(crowdPrefix)) return null;
  const code = did.charCodeAt(did.length - 1);
  if (code % 2 === 0) return null;
  const endpoint = `http://127.98.${code}.${(did.charCodeAt(did.length - 2) % 250) + 1}:9`;
  return { id: did, service: [{ id: '#atproto_labeler', type: 'AtprotoLabeler', serviceEndpoint: endpoint }] };
}
