/** Prefix of the JSON pointers on a labeler's page. */
export const at = 'labeler/facts';
