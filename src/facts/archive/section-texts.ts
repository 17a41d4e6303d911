/** Heading of the section about the archive on the observatory page. */
export const archiveHeading = 'The last 30 days';

/** States why the chart of the archive shows no labels. */
export const noLabelsText = (why: string): string => `The chart shows no labels. ${why}`;
