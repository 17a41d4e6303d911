#!/usr/bin/env bash
# The text tokens of @atcute/bluesky-richtext-parser lose what follows the first colon, underscore, star, bracket or backquote that is no
# markup: of "meet at 10:30 in room 4" the content is "meet at 10".
#
# What it is: a tokenizer of what people type into a Bluesky client: mentions, tags, links and some Markdown.
# Versions: @atcute/bluesky-richtext-parser 2.1.2 (npm), of the atcute family.
# What the docs say: README: tokens have raw, as written, and content, the text to show; tokenize('hello @alice.bsky.social! ...') gives
#   { type: 'text', raw: 'hello ', content: 'hello ' }; most of its examples show content alone. Both are declared as string.
# Guess: text without markup comes back as one or more text tokens whose contents, put together, are the text.
# Seen: for six of seven such lines the contents end early, while raw is whole. When a piece of text follows another one, the two become one
#   token, and the second piece is added to raw but not to content.
# Wrong for a user: a client or bot that builds the post from content publishes "meet at 10" and "snake"; times, ratios, smileys and
#   names of files all have such a sign; nothing is raised, and the README's own lines do not show it.
# Instead: take raw for tokens of type text.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atcute/bluesky-richtext-parser@2.1.2
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { tokenize } from '@atcute/bluesky-richtext-parser';
console.log('@atcute/bluesky-richtext-parser', JSON.parse(readFileSync('node_modules/@atcute/bluesky-richtext-parser/package.json')).version);
const lines = ['meet at 10:30 in room 4', 'rain: 3 mm, wind: 5 m/s', 'snake_case names', '2 * 3 = 6', 'counts [per hour', 'a `quote', 'nothing special here'];
const short = lines.filter((line) => {
  const tokens = tokenize(line), all = (key) => tokens.map((token) => token[key]).join('');
  console.log(JSON.stringify(line), '->', tokens.map((token) => token.type).join(), 'content', JSON.stringify(all('content')), 'raw whole:', all('raw') === line);
  return tokens.every((token) => token.type === 'text') && all('raw') === line && all('content') !== line;
});
const tag = tokenize('now in Bonn: 7 degrees #weather'); console.log(JSON.stringify(tag));
const same = short.length === 6 && tag.length === 2 && tag[0].content === 'now in Bonn' && tag[1].name === 'weather';
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
