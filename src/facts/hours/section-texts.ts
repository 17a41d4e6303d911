/** Headings of the sections about the last 72 hours. The page's script needs them without the charts. */
export const hoursHeadings = {
  weather: 'Events, hour by hour',
  labels: 'Labels, hour by hour',
} as const;

/** Returns the path of a chart's files without their suffix. */
export function chartFile(name: string): string {
  return `/charts/${name}`;
}
