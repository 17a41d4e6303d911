import { second } from '../../store/time.ts';
import type { Texts } from '../texts/texts.ts';
import type { StateName } from '../texts/view/en.ts';

/** Describes a state of `n` enrolled labelers. `past` selects the past tense, for a state that is out of date. */
export function describeState({ states, formats }: Texts, { state, n, past }: DescribedState): string {
  const forms = states[isStateName(state, states) ? state : 'unknown'];
  return formats.plural(n, past ? forms.past : forms.now);
}

/** A source state and the number of labelers in it. */
interface DescribedState {
  readonly state: string;
  readonly n: number;
  readonly past: boolean;
}

function isStateName(state: string, states: Texts['states']): state is StateName {
  return Object.hasOwn(states, state);
}

/** Formats a duration of missed time, given in microseconds. Rounds up, so that missed time is never understated. */
export function formatMissed({ formats }: Texts, length: number): string {
  return formats.missed(length / second);
}
