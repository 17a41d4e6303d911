import Type from 'typebox';
import * as account from '../account.ts';
import { AccountErrorBody, FittingInterval } from '../account-errors.ts';
import { Health } from '../instruments.ts';
import { Acquisition, Gap } from '../labels.ts';
import { openApiFrame } from '../openapi/frame.ts';
import { parameterComponents, pathItems } from './paths.ts';
import { headerComponents, responseComponents } from './responses.ts';

/** OpenAPI 3.1 document of the account-view API, built from the schemas of its types. */

const schemas: Record<string, Type.TSchema> = {
  ExportAnswer: Type.Union([account.ExportCreated, account.ExportNextPage, account.ExportLastPage], {
    title: 'ExportAnswer',
    description: 'A created export, a page that is followed by another page, or the last page.',
  }),
  ExportCreated: account.ExportCreated,
  ExportNextPage: account.ExportNextPage,
  ExportLastPage: account.ExportLastPage,
  AccountDownload: account.AccountDownload,
  ExportManifest: account.ExportManifest,
  ExportInterval: account.ExportInterval,
  ExportFilters: account.ExportFilters,
  AccountCoverage: account.AccountCoverage,
  LabelerCoverage: account.LabelerCoverage,
  AccountRow: account.AccountRow,
  Acquisition,
  Gap,
  FittingInterval,
  Health,
  Error: AccountErrorBody,
};

const description = `The labels observed on one account and its records, with the coverage of the observation.

These are observed applications and removals in a rolling window of 30 days. They do not establish which labels are active, and observing none does not mean that none exist. Labels of every labeler are kept apart; nothing is merged.

No key, no account, no cookies. Nothing is stored by caches. An unknown query parameter is refused. Each client may request a limited number of distinct accounts per day.`;

/** Builds the OpenAPI document. `version` is the version of the package. */
export function accountOpenApiDocument(version: string): object {
  return openApiFrame({
    title: 'Almanac: labels observed on an account',
    version,
    summary: 'Observed label events of one account, as a page and as a bounded export.',
    description,
    tags: [
      { name: 'account', description: 'Observations on one account.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: pathItems,
    schemas,
    responses: responseComponents,
    headers: headerComponents,
    parameters: parameterComponents,
  });
}
