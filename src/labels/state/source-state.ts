/**
 * States of an enrolled source. Each source is in exactly one state, and the artifact contains the number of sources
 * in each state.
 */
export const sourceStates = [
  'unstarted',
  'probing',
  'established',
  'refused',
  'cursor_order_unverified',
  'undated_only',
  'provider_rejects',
  'unavailable',
] as const;
/** One state of an enrolled source. */
export type SourceState = (typeof sourceStates)[number];

/** Events that change the state of a source, with their descriptions for the documentation. */
export const sourceEvents = {
  asked: 'an attempt to read the source began',
  answered: 'a frame, a page or a confirmed tail was accepted',
  only_undated: 'the source responded, and all its labels so far were undated',
  order_unverified: 'the pages do not prove that ids increase with time, or have no usable cursor',
  refusing: '401 or 403, an address that the guard refuses, or an endpoint that is not an https address',
  rejecting: 'HTML, invalid JSON, 400, 404 or 501, by stream and by poll',
  failed: 'a DNS, TLS or connection failure, a timeout, 429 or 5xx',
  failed_long: 'at least 3 transient failures in a row, over more than 15 minutes',
  moved: 'the DID document names another endpoint',
  restarted: 'the process of this instrument restarted',
} as const;
/** An event that changes the state of a source. */
export type SourceEvent = keyof typeof sourceEvents;

type Row = Readonly<Record<SourceEvent, SourceState>>;

/** Transitions of most states: the newest event decides. */
const defaultRow = {
  asked: 'probing',
  answered: 'established',
  only_undated: 'undated_only',
  order_unverified: 'cursor_order_unverified',
  refusing: 'refused',
  rejecting: 'provider_rejects',
  failed: 'probing',
  failed_long: 'unavailable',
  moved: 'probing',
  restarted: 'probing',
} as const satisfies Row;

/**
 * Transition table of the source states. Only the state `established` gives coverage. The start of an attempt is no
 * evidence and changes only the state `unstarted`. A further transient failure does not change the state `unavailable`.
 */
const transitions: Readonly<Record<SourceState, Row>> = {
  unstarted: { ...defaultRow, restarted: 'unstarted', moved: 'unstarted' },
  probing: defaultRow,
  established: { ...defaultRow, asked: 'established' },
  refused: { ...defaultRow, asked: 'refused', restarted: 'refused' },
  cursor_order_unverified: { ...defaultRow, asked: 'cursor_order_unverified', restarted: 'cursor_order_unverified' },
  undated_only: { ...defaultRow, asked: 'undated_only', restarted: 'undated_only' },
  provider_rejects: { ...defaultRow, asked: 'provider_rejects', restarted: 'provider_rejects' },
  unavailable: { ...defaultRow, asked: 'unavailable', failed: 'unavailable', restarted: 'unavailable' },
};

/** Returns the state after an event. */
export function transition(state: SourceState, event: SourceEvent): SourceState {
  return transitions[state][event];
}

/** Parses a stored state; an unknown state (of another version) is parsed as `probing`. */
export function sourceStateOf(text: string): SourceState {
  return sourceStates.find((state) => state === text) ?? 'probing';
}
