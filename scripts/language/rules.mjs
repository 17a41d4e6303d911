/**
 * Wording that `npm run check` rejects in source and documentation, each with its replacement. Add a rule when review
 * finds a home-made expression twice. Every pattern must have the flag `g`.
 */
export const rules = [
  {
    pattern: /\/\*\*(?: |\n *\* )(?:What|Whether|Whose|Who|How|Where|When)\b(?![^\n]*\? )/g,
    instead: 'name the subject: "Returns true if …", "Result of …"',
  },
  { pattern: /\banew\b/gi, instead: '"again"' },
  { pattern: /\bwhoever\b/gi, instead: 'name the party: "the caller", "a client"' },
  { pattern: /(?<!['=:])\bnobody\b/gi, instead: 'name the party: "no client", "no process"' },
  { pattern: /\bsomebody\b/gi, instead: 'name the party: "a client", "the operator"' },
  { pattern: /(?<!there )\b(?:is|are) none\b/gi, instead: '"does not exist", "does not match"' },
  { pattern: /\bwhat of (?:it|them)\b/gi, instead: '"the part that …"' },
  { pattern: /\bwants (?:a|an|one|its|the|to)\b/gi, instead: '"requires", "expects"' },
  { pattern: /\bsa(?:ys|id|y) so\b/gi, instead: '"reports it", "logs it"' },
  { pattern: /\btold apart\b|\btells? (?:it|them|one|a|the)\b[^\n]* (?:apart|from)\b/gi, instead: '"distinguish"' },
  { pattern: /\bgives? itself away\b/gi, instead: '"is detected"' },
  { pattern: /\bput(?:s|ting)? back\b/gi, instead: '"restore"' },
  { pattern: /\bleavings\b/gi, instead: '"disconnect codes", "remaining files"' },
  { pattern: /\brehears(?:e|es|ed|al)\b/gi, instead: '"warm up", "warm-up"' },
  { pattern: /(?<!")\bbeside\b(?!")/gi, instead: '"next to", "besides", "with"' },
  { pattern: /\bthe (?:creation|deletion|making) of\b/gi, instead: 'the verb: "after it created …"' },
  { pattern: /\bwire format\b|\bon the wire\b/gi, instead: '"protocol", "format"' },
  { pattern: /\bis no (?:JSON|number|integer|object|handle|store error)\b/g, instead: '"is not a …"' },
  {
    // A formatter may indent or space out the markers in Markdown.
    pattern: /^ *(?:<<<<<<<|>>>>>>>|(?:> ){6}>) \w/gm,
    instead: 'the resolved text: this is the marker of a merge conflict',
  },
  { pattern: /\bof whom\b|\bthat which\b/gi, instead: 'a noun' },
];
