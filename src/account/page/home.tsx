import { type AccountErrorCode, accountErrorTable } from '../../contract/account-errors.ts';
import { second } from '../../store/time.ts';
import type { Parameters } from '../parameters.ts';
import { LookUpForm, MendInterval, typedText } from './forms.tsx';
import { durationWords } from './words.ts';

/** The first page: the form, what this is and what it is not. */
export function HomeBody({ base, handles }: { readonly base: string; readonly handles: boolean }) {
  return (
    <>
      <h1>Which labels were observed on an account?</h1>
      <p class="lead">
        Labelers are public moderation services of the AT Protocol network. Almanac listens to them and writes down what
        they apply and remove. Look an account up to see what was observed on it, on its posts and on its other records.
      </p>
      <LookUpForm base={base} handles={handles} />
      <div class="two">
        <section aria-labelledby="is">
          <h2 id="is">What this is</h2>
          <ul>
            <li>Public label events of the last 30 days at most, as each labeler published them.</li>
            <li>Two clocks for each: when the labeler says it wrote the label, and when we received it.</li>
            <li>Every labeler for itself: two that use the same value are two observations.</li>
            <li>What could not be seen, beside what could: gaps, interruptions, labelers that are not read.</li>
            <li>All of it to take with you, as a download or an export.</li>
          </ul>
        </section>
        <section aria-labelledby="is-not">
          <h2 id="is-not">What this is not</h2>
          <ul>
            <li>
              Not a statement of which labels an account has: applications and removals are seen, what holds now is not.
            </li>
            <li>Not complete: observing no label does not mean that no label exists.</li>
            <li>Not a judgement: values and definitions are the labelers’ own words.</li>
            <li>Not an archive: rows age out with the window, those of deleted accounts too.</li>
            <li>
              No register of who looks: accounts that are looked up are not written to a log, and no cookie is set.
            </li>
          </ul>
        </section>
      </div>
    </>
  );
}

/** What a refusal is called on its page. */
const headings: Partial<Record<AccountErrorCode, string>> = {
  invalid_account: 'That is no account we can look up',
  invalid_interval: 'That interval cannot be read',
  unsupported_interval: 'That interval is not offered',
  out_of_window: 'Nothing is kept of that interval',
  invalid_filter: 'That filter cannot be read',
  unknown_parameter: 'That address cannot be read',
  invalid_cursor: 'That place in the list cannot be found',
  store_busy: 'The observations cannot be read just now',
  client_budget: 'The limit of lookups is reached',
  internal_error: 'Something went wrong here',
};

/** Words of a page where those of the table speak of parameters and headers, which a reader does not see. */
const ownWords: Partial<Record<AccountErrorCode, string>> = {
  invalid_interval: 'From and To are given together, each as a day and a time, and To lies after From.',
  unsupported_interval: 'There are 7 days and 30 days, or an interval from one instant to another.',
  store_busy: 'Too many are asking, or what was observed is not there to be read.',
  client_budget: 'You have reached the limit of lookups for your network.',
};

/** What a page says of a refusal that has no words of its own. */
export function refusalWords(code: AccountErrorCode): string {
  return ownWords[code] ?? accountErrorTable[code].message;
}

/** Refusals that another interval mends. */
const ofInterval: readonly AccountErrorCode[] = ['invalid_interval', 'unsupported_interval', 'out_of_window'];

/** The page of a refusal. `typed` is what the forms held, to be mended there; `waitSeconds` when to try again. */
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
      <h1>{headings[code] ?? 'This could not be answered'}</h1>
      <div class="panel stop">
        <p>{message}</p>
        {waitSeconds === null ? null : <p>Try again in {durationWords(waitSeconds * second)}.</p>}
        <p>
          Code: <code>{code}</code>. Nothing may be concluded from this about any account.
        </p>
      </div>
      {ofInterval.includes(code) ? <MendInterval base={base} typed={typed} /> : null}
      <LookUpForm base={base} handles={handles} value={typedText(typed, 'did')} />
    </>
  );
}
