/** States of an enrolled source; each source is in exactly one, and the artifact counts them. */
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
  asked: 'a first attempt to read it began',
  answered: 'a frame, a page or a confirmed tail was accepted',
  only_undated: 'it responded, and all its labels so far were undated',
  order_unverified: 'its pages do not prove that ids increase with time, or have no usable cursor',
  refusing: '401 or 403, an address that the guard refuses, or an endpoint that is not an https address',
  rejecting: 'HTML, invalid JSON, 400, 404 or 501, by stream and by poll',
  failed: 'DNS, TLS, connect, timeout, 429 or 5xx',
  failed_long: 'the same for 15 minutes and at least 3 attempts',
  moved: 'its document names another endpoint',
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
 * evidence and changes only the first state, and a further failure does not improve the state of an unavailable source.
 */
export const transitions: Readonly<Record<SourceState, Row>> = {
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
