import { parseContact, userAgent } from '../network/user-agent.ts';
import type { Setting } from '../ops/setting.ts';
import { packageVersion } from './command.ts';

/** Setting for the address at which operators of other services can reach this observatory's operator. */
export const contactSetting: Setting<string | null> = {
  flag: 'contact',
  placeholder: 'URL|MAIL',
  help: 'your web or mail address: sent in the User-Agent of every request, and shown on /for-labelers',
  fallback: null,
  repeatable: false,
  parse: (texts) => {
    const contact = parseContact(texts.at(-1) ?? '');
    if (contact === null) throw new Error('requires an http(s) URL or a mail address');
    return contact;
  },
};

/** Returns the `User-Agent` of every request that a command makes. */
export function userAgentFor({ contact }: { readonly contact: string | null }): string {
  return userAgent(packageVersion(), contact);
}
