#!/usr/bin/env bash
# eleventy-plugin-embed-bluesky embeds the first post of a page only; every further address stays a line of plain text.
#
# What it is: a plugin for the site generator Eleventy that turns addresses of Bluesky posts, each on a line of its own, into embedded posts.
# Versions: eleventy-plugin-embed-bluesky 1.0.2, @11ty/eleventy 3.1.2 (npm); a stub on this machine answers in place of Bluesky's oEmbed service.
# What the docs say: README: "automatically embeds Bluesky posts from URLs in markdown files"; "paste its URL into a new line"; the forms without
#   protocol, with a DID and with a query "will all work". Of a limit of one a page nothing is said; a failure leaves plain text when offline.
# Guess: a page with three addresses, in three of those forms, has three embedded posts; three pages with one each have three.
# Seen: one of three on the page; three on the three pages. The pattern is not global, so the replacement ends with the first match.
# Wrong for a user: reports that cite several posts show one of them; nothing is logged, and the README's explanation for plain text, no network,
#   sends people looking in the wrong place.
# Instead: call the plugin's function in a transform of your own until the text no longer changes, or one post a page.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @11ty/eleventy@3.1.2 eleventy-plugin-embed-bluesky@1.0.2
mkdir site
cat > eleventy.config.cjs <<'JS'
const fetch = require.resolve('@11ty/eleventy-fetch', { paths: [require.resolve('eleventy-plugin-embed-bluesky')] });
require.cache[fetch] = { id: fetch, filename: fetch, loaded: true, exports: async (url) => ({ html: `<blockquote>${url.split('/').pop()}</blockquote>` }) }; // no network
module.exports = (config) => { config.addPlugin(require('eleventy-plugin-embed-bluesky')); return { dir: { input: 'site', output: 'out' } }; };
JS
A=https://bsky.app/profile/bsky.app/post/3lgu4lg6j2k2v B=bsky.app/profile/shellen.com/post/3ldmp5qd6es2p C=https://bsky.app/profile/did:plc:z72i7hdynmk6r22z27h6tvur/post/3lgvpv7k5sc26
printf 'First:\n\n%s\n\nSecond:\n\n%s\n\nThird:\n\n%s\n' $A $B $C > site/all.md
for n in A B C; do printf 'One:\n\n%s\n' "${!n}" > site/page$n.md; done
ELEVENTY_DISABLE_TELEMETRY=1 npx eleventy --config=eleventy.config.cjs --quiet
node -p "['@11ty/eleventy', 'eleventy-plugin-embed-bluesky'].map((n) => n + ' ' + JSON.parse(require('fs').readFileSync('node_modules/' + n + '/package.json')).version).join(', ')"
cat out/all/index.html
TOGETHER=$(grep -c '<blockquote>' out/all/index.html); APART=$(cat out/page*/index.html | grep -c '<blockquote>')
echo "embedded: $TOGETHER of 3 on one page, $APART of 3 on three pages"
if [ "$TOGETHER" = 1 ] && [ "$APART" = 3 ]; then echo still as stated; else echo changed; exit 1; fi
