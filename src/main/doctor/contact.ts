import { type Finding, ok, warn } from './finding.ts';

const check = 'contact';

/** Checks that operators of labelers and hosts can find out who operates this observatory. */
export function checkContact(contact: string | null): Finding {
  if (contact !== null) return ok(check, `requests name ${contact}`);
  return warn(
    check,
    'no contact is set: operators of labelers cannot reach you',
    'set --contact to a web or mail address',
  );
}
