import Type from 'typebox';
import { errorBody, errorCodes, type errorTable } from './errors.ts';
import { LabelFreshness } from './freshness.ts';
import { closed, word } from './schema.ts';

/** Errors of the documents about labelers: those of the facts API and one additional error. */

/** Errors that only the documents about labelers have. */
export const labelerErrorTable = {
  unknown_labeler: {
    status: 404,
    message:
      'Almanac does not follow this labeler now, and did not follow it in the window. See labelers.json below the base address for the labelers that it follows.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

/** An error code of the documents about labelers. */
export type LabelerErrorCode = keyof typeof errorTable | keyof typeof labelerErrorTable;

/** Error object of the documents about labelers. */
export const LabelerErrorBody = closed(
  {
    error: closed(
      {
        status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status, repeated.' }),
        code: word([...errorCodes, 'unknown_labeler'] as readonly LabelerErrorCode[], 'A code of a closed list.'),
        message: Type.String({ description: 'What happened and what to do, for people. Do not parse it.' }),
        freshness: Type.Optional(LabelFreshness),
      },
      { description: 'The refusal.' },
    ),
  },
  { title: 'Error', description: 'Clients preserve the error and never substitute zero counts or a prior reading.' },
);
/** Error object of the documents about labelers. */
export type LabelerErrorBody = Type.Static<typeof LabelerErrorBody>;

/** Returns the Error object for a code. */
export function labelerErrorBody(code: LabelerErrorCode, freshness?: LabelFreshness): LabelerErrorBody {
  if (code !== 'unknown_labeler') return errorBody(code, freshness);
  return { error: { ...labelerErrorTable[code], code } };
}
