/** An account of a simulated network that a page links to. It is never the account of a real person. */
export interface SampleAccount {
  readonly did: string;
  /** English description of what the account's labels show, or null. */
  readonly shows: string | null;
}

/** Lists sample accounts with links to their pages below `base`, the account view's URL or path without a trailing slash. */
export function SampleAccounts({
  samples,
  base,
}: {
  readonly samples: readonly SampleAccount[];
  readonly base: string;
}) {
  return (
    <ul>
      {samples.map(({ did, shows }) => (
        <li key={did}>
          <a href={`${base}/account?did=${encodeURIComponent(did)}`}>
            <code data-name={did}>{did}</code>
          </a>
          {shows === null ? null : (
            <span data-name={did} lang="en">
              : {shows}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
