/** Place of a labeler's facts in the pointers of its page. */
export const at = 'labeler/facts';
