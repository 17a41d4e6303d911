import { gapsFile } from '../archive/compute/gaps.ts';
import { labelsForm } from '../archive/hours/labels-day.ts';
import { weatherForm } from '../archive/hours/weather-day.ts';
import {
  labelsGaps,
  labelsLabelers,
  labelsLateLabelers,
  packageFile,
  weatherCollections,
  weatherOtherHosts,
  weatherPostKinds,
  weatherTotals,
} from '../archive/tables/columns.ts';
import { describeLeak, findLeak, findLeakExcept, type IdentityPlaces } from '../facts/representation.ts';
import { scanJson } from '../input/json-budget.ts';
import { inputLimits } from '../input/limits.ts';

/**
 * Locations in the archive's files where names of schemas, hosts and labelers are allowed. An identity at any other
 * location is a finding.
 */
const places: Readonly<Record<string, IdentityPlaces>> = {
  [gapsFile]: { dids: /^\/gaps\/\d+\/labeler_did$/, handles: /^\/(?:schema|gaps\/\d+\/host)$/ },
  [labelsForm.name]: { dids: /^\/labelers\/\d+\/labeler_did$/, handles: null },
  // The names of protocols and collections look like handles.
  [packageFile]: { dids: /(?!)/, handles: /^\/resources\/\d+\/schema\/fields\/\d+\/constraints\/enum\/\d+$/ },
  [weatherForm.name]: { dids: /(?!)/, handles: /^\/series\/\d+\/host$/ },
};
const hosts: IdentityPlaces = { dids: /(?!)/, handles: /^\/rows\/\d+\/host$/ };
const inTables: Readonly<Record<string, IdentityPlaces>> = {
  [labelsLabelers.name]: { dids: /^\/rows\/\d+\/labeler_did$/, handles: null },
  [labelsLateLabelers.name]: { dids: /^\/rows\/\d+\/labeler_did$/, handles: null },
  [labelsGaps.name]: { dids: /^\/rows\/\d+\/scope$/, handles: null },
  ...Object.fromEntries(
    [weatherTotals, weatherCollections, weatherPostKinds, weatherOtherHosts].map(({ name }) => [name, hosts]),
  ),
};
const nowhere: IdentityPlaces = { dids: /(?!)/, handles: null };

/**
 * Applies the privacy scan of the facts API to a published body. A body that is not JSON is scanned as plain text.
 * Returns a description of the first identity, without its text, or null if the body contains no identity.
 */
export function findIdentity(body: Uint8Array): string | null {
  const leak = findLeak(parsedBody(body));
  return leak && describeLeak(leak);
}

/**
 * Applies the privacy scan to the values of a file of the archive. Returns a description of the first identity, without
 * its text, or null if the file contains no identity.
 */
export function findIdentityIn(name: string, value: object): string | null {
  const [table = ''] = name.split('.');
  const leak = findLeakExcept(places[name] ?? inTables[table] ?? nowhere, value);
  return leak && describeLeak(leak);
}

function parsedBody(body: Uint8Array): object {
  const text = Buffer.from(body).toString('utf8');
  if (scanJson(body, inputLimits.archivedFact).fault !== null) return { text };
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : { text };
  } catch {
    return { text };
  }
}
