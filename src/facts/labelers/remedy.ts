import type { LabelerLine } from '../../artifact/labelers.ts';
import type { LabelerProblem } from '../../contract/vocabulary.ts';

/** Returns the description and the remedy of a labeler's problem, or null if there is no problem. */
export function remedyOf({ state, problem }: Pick<LabelerLine, 'state' | 'problem'>): string | null {
  if (problem === null) return null;
  // The enumeration of problems is closed. An established labeler has an unknown problem only if a limit that it did
  // not reach itself pauses it: the instrument names every problem that the labeler causes.
  return problem === 'unknown' && state === 'established' ? pausedBySharedLimit : remedies[problem];
}

const pausedBySharedLimit =
  'Reading is paused by a limit of this observatory that many labelers share: the daily share of the domain or class of this labeler, or disk space. No action is necessary: reading continues by itself.';

/** Description and remedy of each problem, for operators of labelers. */
const remedies: Readonly<Record<LabelerProblem, string>> = {
  authentication_required:
    'The endpoint responds to anonymous requests with 401 or 403. Allow subscribeLabels and queryLabels without authentication. If the refusal is intended, no action is necessary.',
  endpoint_not_public:
    'The endpoint in the DID document is not an https address that the internet can reach. Publish a public https address as the labeler service.',
  no_labeler_service:
    'The DID has no document, or its document declares no labeler service. Add the service #atproto_labeler to the document.',
  not_a_label_service:
    'The endpoint responds with something other than labels, such as a web page. Route the paths below /xrpc/ to the labeler.',
  dns_failed: 'The host name of the endpoint does not resolve. Restore its DNS records, or publish another endpoint.',
  tls_failed: 'The TLS handshake with the endpoint fails. Renew its certificate, and send the whole chain.',
  connection_failed:
    'The endpoint refuses the connection, or closes it before a response. Check that the labeler runs and that no firewall blocks it.',
  timed_out: 'The endpoint does not respond in time. Check the load of the labeler and of the proxy in front of it.',
  rate_limited:
    'The endpoint responds with 429. Allow more requests from the User-Agent that the page for operators of labelers names.',
  server_error: 'The endpoint responds with a server error. The log of the labeler contains the cause.',
  order_unverified:
    'The pages of the endpoint do not prove that ids increase with time, so reading cannot be resumed safely. Serve subscribeLabels, with increasing sequence numbers.',
  labels_undated: 'No label has a usable date. Send the field cts of each label as RFC 3339 in UTC.',
  labels_refused:
    'Labels of the last 24 hours were refused, so they are missing here. Send each label with src (the DID of the labeler), uri, val (at most 128 bytes) and cts (RFC 3339 in UTC, not in the future), and with the types of the lexicon com.atproto.label.defs.',
  denied_by_operator:
    'The operator of this service has decided not to read this labeler. Ask the operator for the reason.',
  share_exceeded:
    'The labeler used up its daily allowance, so reading is paused until the next day. A labeler that sends less is read completely.',
  unknown: 'The cause is not known. Almanac continues to try.',
};
