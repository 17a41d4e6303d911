import { isDid } from '../contract/identifiers.ts';
import { OperatorError } from '../ops/errors.ts';
import { list } from '../ops/setting.ts';
import type { SampleAccount } from '../web/sample-accounts.tsx';

/** The `--sample-account` setting of the services that have pages. */
export const sampleAccountSetting = list(
  'sample-account',
  'DID',
  [],
  'DID of an account of a simulated network that the pages link to, a space, and a description; repeatable',
);

/** Parses the values of the setting. Throws OperatorError if a value does not begin with a DID. */
export function parseSampleAccounts(texts: readonly string[]): SampleAccount[] {
  return texts.map((text) => {
    const [did = '', ...words] = text.trim().split(/\s+/);
    if (!isDid(did)) throw new OperatorError(`--sample-account requires a DID; got ${JSON.stringify(text)}`);
    return { did, shows: words.length === 0 ? null : words.join(' ') };
  });
}
