/** Links to the account view, which has a different address. */
export interface AccountLinks {
  /** URL of the account view, without a trailing slash. */
  readonly url: string;
  /** Sample accounts of a simulated network; they are never accounts of real people. */
  readonly samples: readonly { readonly did: string; readonly shows: string | null }[];
}

/** Shows the link to the account view. An attribute repeats the links for the page's script. */
export function Accounts({ links }: { links: AccountLinks | null }) {
  if (!links) return null;
  const page = `${links.url}/account`;
  return (
    <section aria-labelledby="accounts" data-accounts={JSON.stringify(links)}>
      <h2 id="accounts">One account</h2>
      <p>
        Nothing on this page is about a single account. The labels observed on one account are available on request at{' '}
        <a href={`${links.url}/`}>another address</a>.
      </p>
      {links.samples.length === 0 ? null : (
        <ul>
          {links.samples.map(({ did, shows }) => (
            <li key={did}>
              <a href={`${page}?did=${encodeURIComponent(did)}`}>
                <code data-name={did}>{did}</code>
              </a>
              {shows === null ? null : <span data-name={did}>: {shows}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Returns the account links embedded in a server-rendered page; null if the page has none. */
export function accountLinksOf(page: ParentNode): AccountLinks | null {
  const text = page.querySelector('[data-accounts]')?.getAttribute('data-accounts');
  return typeof text === 'string' ? (JSON.parse(text) as AccountLinks) : null;
}
