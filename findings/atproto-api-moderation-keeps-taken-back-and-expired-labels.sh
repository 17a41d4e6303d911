#!/usr/bin/env bash
# WHAT: the moderation functions of @atproto/api do not look at the fields neg, exp and cid of a label: a label that its labeler
#       took back, one that expired years ago and one for an older version of a post all hide the post.
# VERSIONS: @atproto/api 0.21.0 (npm).
# WHAT THE SPEC SAYS: com.atproto.label.defs#label: neg marks a negation, which overwrites an earlier label; after exp a label no
#       longer applies; cid binds it to one version of the subject. The package's moderation guide hands a post's view to
#       moderatePost as it is, and names no label that would have to be cleared away first.
# GUESS: only a plain label filters the post out; the negation, the expired label and the label for another CID do nothing.
# SEEN: all four filter it out, and a list of the label followed by its negation gives two reasons to hide. The server
#       behind the usual app views removes such labels before it answers; this code only ever reads src and val.
# WHY IT HURTS: labels from anywhere else, such as a labeler's own queryLabels or subscribeLabels, an archive of labels, or an
#       answer held in a cache beyond exp, are still in force: a feed is too short, and "share of posts hidden" too high, the
#       more so the more often a labeler corrects itself.
# INSTEAD: per (src, uri, val) keep the label with the newest cts; drop it if neg is set, exp has passed or cid is another.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @atproto/api@0.21.0 >/dev/null
cat > probe.js <<'JS'
import { readFileSync } from 'node:fs';
import { interpretLabelValueDefinition, moderatePost } from '@atproto/api';

console.log('@atproto/api', JSON.parse(readFileSync('node_modules/@atproto/api/package.json', 'utf8')).version);
const author = { did: 'did:plc:aaaabbbbccccddddeeeeffff', handle: 'alice.example.com' };
const labeler = 'did:plc:gggghhhhiiiijjjjkkkkllll';
const uri = `at://${author.did}/app.bsky.feed.post/3mbcdefghij2k`;
const cid = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy';
const label = { ver: 1, src: labeler, uri, val: 'spoiler', cts: '2026-01-01T00:00:00.000Z' };
const opts = {
	userDid: undefined,
	prefs: { adultContentEnabled: true, labels: {}, labelers: [{ did: labeler, labels: { spoiler: 'hide' } }], mutedWords: [], hiddenPosts: [] },
	labelDefs: {
		[labeler]: [interpretLabelValueDefinition({ identifier: 'spoiler', severity: 'inform', blurs: 'content', defaultSetting: 'hide', adultOnly: false, locales: [] }, labeler)],
	},
};

/** Returns for how many reasons a post with these labels is taken out of a list. */
function reasons(...labels) {
	const post = {
		uri, cid, author, labels, indexedAt: '2026-01-01T00:00:00.000Z',
		record: { $type: 'app.bsky.feed.post', text: 'hello', createdAt: '2026-01-01T00:00:00.000Z' },
	};
	return moderatePost(post, opts).ui('contentList').filters.length;
}
const taken = { ...label, neg: true, cts: '2026-01-02T00:00:00.000Z' };
const rows = [
	['no label', 0, reasons(), 0],
	['the label', 1, reasons(label), 1],
	['only its negation', 0, reasons(taken), 1],
	['the label, then its negation', 0, reasons(label, taken), 2],
	['expired in 2024', 0, reasons({ ...label, cts: '2023-12-31T00:00:00.000Z', exp: '2024-01-01T00:00:00.000Z' }), 1],
	['for another version of the post', 0, reasons({ ...label, cid: 'bafyreibvjvcv745gig4mvqs4hctx4zfkono4rjejm2ta6gtyzkqxfjeily' }), 1],
];
for (const [name, expected, observed] of rows) console.log(`${name.padEnd(32)} reasons to hide: expected ${expected}, observed ${observed}`);
process.exit(rows.every(([, , observed, stated]) => observed === stated) ? 0 : 1);
JS
if timeout 60 node probe.js; then echo 'STILL SO: taken back and expired labels hide posts'; else echo 'CHANGED'; exit 1; fi
