/** Where the page sends those who ask about one account: the account-view surface is another address. */
export interface AccountLinks {
  /** Its address, without a trailing slash. */
  readonly url: string;
  /** Accounts to begin with; those of a simulated network, where nobody is anybody. */
  readonly samples: readonly { readonly did: string; readonly shows: string | null }[];
}

/** The way to the account-view surface. The links stand in an attribute too, from where the script takes them over. */
export function Accounts({ links }: { links: AccountLinks | null }) {
  if (!links) return null;
  const page = `${links.url}/account`;
  return (
    <section aria-labelledby="accounts" data-accounts={JSON.stringify(links)}>
      <h2 id="accounts">One account</h2>
      <p>
        Nothing on this page is about anyone. What labelers were seen to say of one account is told on request, at{' '}
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

/** The links of a page that the server drew; null where it drew none. */
export function accountLinksOf(page: ParentNode): AccountLinks | null {
  const text = page.querySelector('[data-accounts]')?.getAttribute('data-accounts');
  return typeof text === 'string' ? (JSON.parse(text) as AccountLinks) : null;
}
