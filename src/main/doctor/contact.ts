import { type Finding, ok, warn } from './finding.ts';

const check = 'contact';

/** Checks that a contact is set, so that operators of labelers and hosts can reach the operator of this observatory. */
export function checkContact(contact: string | null): Finding {
  if (contact !== null) return ok(check, `requests name ${contact}`);
  return warn(
    check,
    'no contact is set: operators of labelers cannot reach you',
    'set --contact to a web or mail address',
  );
}
