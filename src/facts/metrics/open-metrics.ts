/** A metric family of OpenMetrics. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'gauge' | 'info' | 'stateset';
  /** Unit of the values. The name must end with it. */
  readonly unit?: 'seconds' | 'ratio';
  /** Help text: one line without backslashes and quotes. */
  readonly help: string;
}

/** Names and values of the dimensions that distinguish the samples of a family. */
export type Dimensions = Readonly<Record<string, string>>;

/** One sample of a family. */
interface Sample {
  readonly dimensions: Dimensions;
  readonly value: number;
}

/** Samples grouped by family. A family without samples is omitted from the text. */
export class MetricSamples {
  readonly #samples = new Map<MetricFamily, Sample[]>();

  /** Adds a sample. An unknown number (null or undefined) adds no sample, so that its series does not exist. */
  add(family: MetricFamily, dimensions: Dimensions, value: number | null | undefined): void {
    if (value === null || value === undefined) return;
    const samples = this.#samples.get(family) ?? [];
    samples.push({ dimensions, value });
    this.#samples.set(family, samples);
  }

  /** Adds one sample for each state of a state set: 1 for the current state and 0 for every other. */
  addState(family: MetricFamily, dimensions: Dimensions, states: readonly string[], current: string): void {
    // OpenMetrics requires that this dimension has the name of its family.
    for (const state of states) this.add(family, { ...dimensions, [family.name]: state }, state === current ? 1 : 0);
  }

  /** Formats the samples as OpenMetrics text, in the order of `families`. */
  openMetrics(families: readonly MetricFamily[]): string {
    return [...this.#lines(families, openMetadata), '# EOF', ''].join('\n');
  }

  /** Formats the samples in the text format 0.0.4 of Prometheus, in the order of `families`. */
  prometheusText(families: readonly MetricFamily[]): string {
    return [...this.#lines(families, textMetadata), ''].join('\n');
  }

  #lines(families: readonly MetricFamily[], metadata: (family: MetricFamily) => string[]): string[] {
    return families.flatMap((family) => {
      const samples = this.#samples.get(family);
      return samples === undefined ? [] : [...metadata(family), ...samples.map((sample) => line(family, sample))];
    });
  }
}

/** Returns the sample name of a family. */
export function sampleName({ name, type }: MetricFamily): string {
  return type === 'info' ? `${name}_info` : name;
}

/** The text format has no units, and neither `info` nor `stateset`, whose samples are gauges there. */
function textMetadata(family: MetricFamily): string[] {
  const name = sampleName(family);
  return [`# HELP ${name} ${family.help}`, `# TYPE ${name} gauge`];
}

function openMetadata({ name, type, unit, help }: MetricFamily): string[] {
  return [
    `# TYPE ${name} ${type}`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${help}`,
  ];
}

function line(family: MetricFamily, { dimensions, value }: Sample): string {
  const pairs = Object.entries(dimensions).map(([name, text]) => `${name}="${escaped(text)}"`);
  return `${sampleName(family)}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

/**
 * Escapes the value of a dimension. Replaces unpaired surrogates, and control characters other than the line feed,
 * because parsers treat them differently.
 */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll(controls, '\uFFFD');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
const controls = /[\u0000-\u001F\u007F-\u009F]/g;
