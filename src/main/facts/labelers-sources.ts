import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { labelerFiles, labelerUrls, type ReadLabelerBytes } from '../../artifact/labelers/labeler-files.ts';
import { type LabelersReading, type LabelersSource, labelersSource } from '../../artifact/labelers/labelers-source.ts';
import { artifactNames } from '../../artifact/write.ts';
import { type Catalogue, prepareCatalogue } from '../../facts/labelers/catalogue.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { userAgentFor } from '../contact-setting.ts';
import { type ArtifactSettings, httpUrl, usableFile, usableFolder } from './artifact-sources.ts';

/** Location of the labelers artifact. */
export interface LabelersSettings extends ArtifactSettings {
  readonly labelersArtifact: string | null;
}

/** Interval between two checks of the artifact's files, in milliseconds. */
const filePollMs = 500;
/** Time for which the previous pair of files is still served while newer files are being read, in milliseconds. */
const fileGraceMs = 5_000;
/**
 * Time for which the previous pair is still served, in addition to the poll interval, if the artifact is at a URL, in
 * milliseconds.
 */
const urlGraceMs = 10_000;

/** The source of the labelers artifact, and the maximum time by which the artifact may lag behind the overview. */
export interface LabelersWithGrace {
  readonly source: LabelersSource<Catalogue>;
  readonly graceMs: number;
}

/** Dependencies of the source. */
interface SourceContext {
  readonly log: Log;
  readonly clock: () => number;
  /** Called after every attempt to read the artifact. */
  readonly polled: () => void;
}

/**
 * Creates the source of the labelers artifact. Throws OperatorError if its URL is invalid, if its directory does not
 * exist, or if its file cannot be read.
 */
export function labelersArtifact(settings: LabelersSettings, { log, clock, polled }: SourceContext): LabelersWithGrace {
  const url = settings.labelersArtifact === null ? null : httpUrl('labelers-artifact', settings.labelersArtifact);
  const pollMs = url === null ? filePollMs : settings.pollSeconds * 1000;
  return {
    source: labelersSource({
      readBytes: url === null ? filesOf(settings) : urlsOf(url, settings, clock),
      prepare: () => prepareCatalogue((leak) => log.error('a handle of a labeler is withheld', { leak })),
      pollMs,
      firstReadingMs: 2_000,
      monotonic: () => performance.now(),
      observe: (reading) => logReading(reading, log),
      failed: (error) => log.error('the labelers artifact could not be processed', errorFields(error)),
      polled,
    }),
    graceMs: url === null ? fileGraceMs : pollMs + urlGraceMs,
  };
}

function filesOf(settings: LabelersSettings): ReadLabelerBytes {
  const { labelersArtifact: place } = settings;
  const labelers = place === null ? join(usableFolder(settings), artifactNames.labelers) : usableFile(place);
  return labelerFiles({ labelers, definitions: join(dirname(labelers), artifactNames.labelerDefinitions) });
}

function urlsOf(url: URL, settings: LabelersSettings, clock: () => number): ReadLabelerBytes {
  return labelerUrls({
    urls: { labelers: url, definitions: new URL(artifactNames.labelerDefinitions, url) },
    userAgent: userAgentFor(settings),
    timeoutMs: 30_000,
    graceMs: settings.unreachableSeconds * 1000,
    clock,
  });
}

/**
 * Logs every change of the reading in one line that states the problem with the artifact, never the artifact's content.
 */
function logReading(reading: LabelersReading<Catalogue>, log: Log): void {
  const artifact = 'labelers';
  if (reading.kind === 'readable') {
    const [newest] = reading.sets;
    log.info('the artifact is readable', { artifact, digest: newest?.digest.slice(0, 12) });
    return;
  }
  const { kind, why } = reading;
  const place =
    reading.kind === 'malformed' ? { file: reading.file, line: reading.line, pointer: reading.pointer } : {};
  log.warn('the artifact is refused', { artifact, reading: kind, why, ...place });
}
