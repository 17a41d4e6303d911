import type { IdentityPlaces } from '../contract/privacy/find-identity.ts';
import { gapsFile } from './compute/gaps.ts';
import { labelsForm } from './hours/labels-day.ts';
import { weatherForm } from './hours/weather-day.ts';
import {
  labelsGaps,
  labelsLabelers,
  labelsLateLabelers,
  packageFile,
  weatherCollections,
  weatherOtherHosts,
  weatherPostKinds,
  weatherTotals,
} from './tables/columns.ts';

/** The places by the name of the file. An identity at any other place is a finding. */
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

/** Returns the places of identities in a file or table of the archive, by the name of the file. */
export function identityPlacesIn(name: string): IdentityPlaces {
  const [table = ''] = name.split('.');
  return places[name] ?? inTables[table] ?? nowhere;
}
