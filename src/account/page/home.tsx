import { type SampleAccount, SampleAccounts } from '../../web/sample-accounts.tsx';
import type { Parameters } from '../query/query.ts';
import type { PageErrorCode } from '../texts/entry/en.ts';
import { LookUpForm, MendInterval, typedText } from './forms.tsx';
import type { PageFrame } from './frame.ts';

/** Renders the home page: the form for looking up an account, links to sample accounts, and an explanation. */
export function HomeBody({
  frame,
  samples,
}: {
  readonly frame: PageFrame;
  readonly samples: readonly SampleAccount[];
}) {
  const { t, base } = frame;
  return (
    <>
      <h1>{t.homeHeading}</h1>
      <p class="lead">{t.homeLead}</p>
      <LookUpForm frame={frame} />
      {samples.length === 0 ? null : (
        <section aria-labelledby="samples">
          <h2 id="samples">{t.samplesHeading}</h2>
          <SampleAccounts samples={samples} base={base} />
        </section>
      )}
      <div class="two">
        <section aria-labelledby="is">
          <h2 id="is">{t.isHeading}</h2>
          <Items texts={t.is} />
        </section>
        <section aria-labelledby="is-not">
          <h2 id="is-not">{t.isNotHeading}</h2>
          <Items texts={t.isNot} />
        </section>
      </div>
    </>
  );
}

function Items({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** Codes of errors that the user can avoid by choosing a different interval. */
const ofInterval: readonly PageErrorCode[] = ['invalid_interval', 'unsupported_interval', 'out_of_window'];

/**
 * Renders an error page. `typed` contains the submitted parameters; `waitSeconds` is the time until a retry is
 * possible.
 */
export function RefusalBody(props: {
  readonly code: PageErrorCode;
  readonly message: string;
  readonly frame: PageFrame;
  readonly typed: Parameters;
  readonly waitSeconds: number | null;
}) {
  const { code, message, frame, typed, waitSeconds } = props;
  const { t } = frame;
  return (
    <>
      <h1>{t.refusalHeading[code]}</h1>
      <div class="panel stop">
        <p>{message}</p>
        {waitSeconds === null ? null : <p>{t.tryAgain(t.formats.span(waitSeconds))}</p>}
        <p>{t.code(<code>{code}</code>)}</p>
      </div>
      {ofInterval.includes(code) ? <MendInterval frame={frame} typed={typed} /> : null}
      <LookUpForm frame={frame} value={typedText(typed, 'did')} />
    </>
  );
}
