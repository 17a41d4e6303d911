/** Accounts that an operator names, and where the account-view surface shows them. */
export interface AccountLinks {
  /** Address of the account-view surface; null where none is told. */
  readonly url: string | null;
  readonly samples: readonly string[];
}

/** No account and no address. */
export const noAccountLinks: AccountLinks = { url: null, samples: [] };

const id = 'accounts';

/** Links to the account-view surface; nothing of an account stands on this page but the DIDs that an operator named. */
export function Accounts({ url, samples }: AccountLinks) {
  if (url === null) return null;
  return (
    <section aria-labelledby={id} data-account-url={url} data-samples={samples.join(' ')}>
      <h2 id={id}>Labels on one account</h2>
      <p>
        What labels were observed on an account and its records is shown by a{' '}
        <a href={`${url}/account`}>service of its own</a>; none of it enters the facts above.
      </p>
      {samples.length === 0 ? null : (
        <ul>
          {samples.map((did) => (
            <li key={did}>
              <a href={`${url}/account?did=${encodeURIComponent(did)}&days=30`}>{did}</a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Reads the links back from a page that the server has drawn: the script in the browser has no other way to them. */
export function readAccountLinks(page: Pick<Document, 'querySelector'>): AccountLinks {
  const { accountUrl, samples = '' } = page.querySelector<HTMLElement>(`[aria-labelledby=${id}]`)?.dataset ?? {};
  return accountUrl === undefined
    ? noAccountLinks
    : { url: accountUrl, samples: samples.split(' ').filter((did) => did !== '') };
}
