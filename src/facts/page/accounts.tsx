import { type SampleAccount, SampleAccounts } from '../../web/sample-accounts.tsx';

/** Links to the account view, which has its own address. */
export interface AccountLinks {
  /** URL of the account view, without a trailing slash. */
  readonly url: string;
  readonly samples: readonly SampleAccount[];
}

/** Shows the link to the account view and to its sample accounts. Shows nothing if there is no account view. */
export function Accounts({ links }: { links: AccountLinks | null }) {
  if (!links) return null;
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">One account</h2>
      <p>
        Nothing on this page is about a single account. The labels observed on one account are available on request at{' '}
        <a href={`${links.url}/`}>another address</a>.
      </p>
      {links.samples.length === 0 ? null : <SampleAccounts samples={links.samples} base={links.url} />}
    </section>
  );
}
