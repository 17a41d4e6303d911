import type Type from 'typebox';
import { LabelFreshness } from '../freshness.ts';
import { LabelerErrorBody } from '../labeler-errors.ts';
import * as labelers from '../labelers.ts';
import { Acquisition, Gap } from '../labels.ts';
import { openApiFrame } from '../openapi/frame.ts';
import { headerComponents } from '../openapi/headers.ts';
import { parameterComponents, pathItems } from './paths.ts';
import { responseComponents } from './responses.ts';

/** OpenAPI 3.1 document that describes the documents about labelers, built from the schemas of their types. */

const schemas: Record<string, Type.TSchema> = {
  LabelersEnvelope: labelers.LabelersEnvelope,
  LabelersFacts: labelers.LabelersFacts,
  LabelerSummary: labelers.LabelerSummary,
  LabelerStateCounts: labelers.LabelerStateCounts,
  LabelerEnvelope: labelers.LabelerEnvelope,
  LabelerFacts: labelers.LabelerFacts,
  LabelerHandle: labelers.LabelerHandle,
  LabelerEvents: labelers.LabelerEvents,
  LabelerWindow: labelers.LabelerWindow,
  LabelerDay: labelers.LabelerDay,
  LabelerValue: labelers.LabelerValue,
  LabelerDefinitions: labelers.LabelerDefinitions,
  LabelerDefinition: labelers.LabelerDefinition,
  Acquisition,
  Gap,
  LabelFreshness,
  Error: LabelerErrorBody,
};

const description = `The labelers that Almanac follows, by name, with the coverage of the observation of each. A labeler is a public moderation service; no document names an account that a label is about.

A count that is not known is null, never zero: nothing is known about a day that was not read. A document is refused with 503 whenever the label overview generated at the same time is held, stale or missing. Keep the error, and never substitute zeros or an older reading.

The contract of the facts under /v1/ does not cover these documents. The field \`contract\` states their version; check it in your client.`;

/** Builds the OpenAPI document. `version` is the version of the package. */
export function labelersOpenApiDocument(version: string): object {
  return openApiFrame({
    title: 'Almanac: labelers by name',
    version,
    summary: 'The labelers that Almanac follows, and the coverage of the observation of each.',
    description,
    tags: [
      { name: 'labelers', description: 'Documents and pages about labelers.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: pathItems,
    schemas,
    responses: responseComponents,
    headers: headerComponents,
    parameters: parameterComponents,
  });
}
