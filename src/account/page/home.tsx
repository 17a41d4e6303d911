import { type AccountErrorCode, accountErrorTable } from '../../contract/account-errors.ts';
import { second } from '../../store/time.ts';
import type { Parameters } from '../query/parameters.ts';
import { LookUpForm, MendInterval, typedText } from './forms.tsx';
import { formatDuration } from './words.ts';

/** Shows the first page: the form for looking up an account, and an explanation of the service. */
export function HomeBody({ base, handles }: { readonly base: string; readonly handles: boolean }) {
  return (
    <>
      <h1>Which labels were observed on an account?</h1>
      <p class="lead">
        Labelers are public moderation services of the AT Protocol network. Almanac reads them and records the labels
        that they apply and remove. Look up an account to see the labels observed on it, on its posts and on its other
        records.
      </p>
      <LookUpForm base={base} handles={handles} />
      <div class="two">
        <section aria-labelledby="is">
          <h2 id="is">What this is</h2>
          <ul>
            <li>Public label events of the last 30 days at most, as each labeler published them.</li>
            <li>Two clocks for each: when the labeler says it wrote the label, and when Almanac received it.</li>
            <li>Each labeler separately: the same value from two labelers is two observations.</li>
            <li>The limits of the observation: gaps, interruptions, labelers that are not read.</li>
            <li>All rows as a download or an export.</li>
          </ul>
        </section>
        <section aria-labelledby="is-not">
          <h2 id="is-not">What this is not</h2>
          <ul>
            <li>
              Not a statement of which labels an account has: Almanac observes applications and removals, not the labels
              that apply now.
            </li>
            <li>Not complete: observing no label does not mean that no label exists.</li>
            <li>Not a judgement: values and definitions are the labelers’ own words.</li>
            <li>Not an archive: rows are removed after 30 days, including those of deleted accounts.</li>
            <li>No record of visitors: looked-up accounts are not logged, and no cookie is set.</li>
          </ul>
        </section>
      </div>
    </>
  );
}

/** Headings of error pages. */
const headings: Partial<Record<AccountErrorCode, string>> = {
  invalid_account: 'This account cannot be looked up',
  invalid_interval: 'This interval is invalid',
  unsupported_interval: 'This interval is not supported',
  out_of_window: 'No data is available for this interval',
  invalid_filter: 'This filter is invalid',
  unknown_parameter: 'This address is invalid',
  invalid_cursor: 'This place in the list does not exist',
  store_busy: 'The observations cannot be read at the moment',
  client_budget: 'The limit of look-ups is reached',
  internal_error: 'Something went wrong here',
};

/** Error texts of pages, for codes whose API message mentions parameters or headers. */
const pageText: Partial<Record<AccountErrorCode, string>> = {
  invalid_interval: 'Give From and To together, each as a day and a time, with To after From.',
  unsupported_interval: 'Choose 7 days, 30 days, or an interval from one instant to another.',
  store_busy: 'There are too many requests, or the observations are not available.',
  client_budget: 'You have reached the limit of look-ups for your network.',
};

/** Returns the text of the error page for a code. */
export function refusalWords(code: AccountErrorCode): string {
  return pageText[code] ?? accountErrorTable[code].message;
}

/** Error codes that the user can resolve by choosing another interval. */
const ofInterval: readonly AccountErrorCode[] = ['invalid_interval', 'unsupported_interval', 'out_of_window'];

/** Shows an error page. `typed` contains the submitted parameters; `waitSeconds` is the delay before a retry. */
export function RefusalBody(props: {
  readonly code: AccountErrorCode;
  readonly message: string;
  readonly base: string;
  readonly handles: boolean;
  readonly typed: Parameters;
  readonly waitSeconds: number | null;
}) {
  const { code, message, base, handles, typed, waitSeconds } = props;
  return (
    <>
      <h1>{headings[code] ?? 'This request failed'}</h1>
      <div class="panel stop">
        <p>{message}</p>
        {waitSeconds === null ? null : <p>Try again in {formatDuration(waitSeconds * second)}.</p>}
        <p>
          Code: <code>{code}</code>. Nothing may be concluded from this about any account.
        </p>
      </div>
      {ofInterval.includes(code) ? <MendInterval base={base} typed={typed} /> : null}
      <LookUpForm base={base} handles={handles} value={typedText(typed, 'did')} />
    </>
  );
}
