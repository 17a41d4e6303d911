#!/usr/bin/env bash
# Three readers of robots.txt let a crawler in where the file keeps it out: one drops a path with
# a DID in it, one the first of two names of a group, two the second group of a name.
#
# What it is: npm packages that answer "may this crawler fetch that path?" from a robots.txt.
# Versions: robots 0.10.1, robots-txt-parser 2.0.3, robots-txt-parse 2.0.1 with
#   robots-txt-guard 1.0.2; robots-parser 3.0.1 (all npm) to compare with.
# What the spec says: RFC 9309 section 2.2: a path may hold any character but "#", so ":" too;
#   2.2.1: several user-agent lines share the rules that follow, and the groups that match one
#   crawler MUST be combined; 2.2.2: matching MUST start with the first octet of the path.
# Guess: all four agree with the RFC, whose section 5.1 has a group of two names.
# Seen: robots skips a line with a second colon: /profile/did:plc:abc is free. robots-txt-parser
#   keeps the rules for the last name only, and looks for a path anywhere in the address: "/day"
#   also closes /data/day.csv. robots and robots-txt-guard take the first matching group alone.
# Wrong claim for a user: "allowed" for pages whose owner asked to be left out, and a series
#   that nobody closed is not fetched.
# Instead: robots-parser.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts robots@0.10.1 robots-txt-parser@2.0.3 robots-txt-parse@2.0.1 robots-txt-guard@1.0.2 robots-parser@3.0.1
cat > run.js <<'JS'
const { RobotsParser } = require('robots'), { Readable } = require('stream')
const fs = require('fs'), v = p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version
console.log(['robots', 'robots-txt-parser', 'robots-txt-guard', 'robots-parser'].map(v).join(', '))
const site = 'https://example.com', readers = {
  robots: async (txt, bot, path) => new RobotsParser().parse(txt.split('\n')).canFetchSync(bot, path),
  'robots-txt-parser': async (txt, bot, path) => {
    const r = require('robots-txt-parser')({ userAgent: bot }); r.parseRobots(site, txt)
    await r.useRobotsFor(site); return r.canCrawlSync(site + path)
  },
  'robots-txt-guard': async (txt, bot, path) => require('robots-txt-guard')(await require('robots-txt-parse')(Readable.from([txt]))).isAllowed(bot, path),
  'robots-parser': async (txt, bot, path) => require('robots-parser')(site + '/robots.txt', txt).isAllowed(site + path, bot)
}
const cases = [
  ['a DID in a path', 'User-agent: *\nDisallow: /profile/did:plc:abc\n', 'hourbot', '/profile/did:plc:abc', false],
  ['first of two names', 'User-agent: barbot\nUser-agent: bazbot\nDisallow: /example/page.html\n', 'barbot', '/example/page.html', false],
  ['two groups, one name', 'User-agent: hourbot\nDisallow: /foo\n\nUser-agent: hourbot\nDisallow: /baz\n', 'hourbot', '/baz', false],
  ['path inside a path', 'User-agent: *\nDisallow: /day\n', 'hourbot', '/data/day.csv', true]]
;(async () => {
  const got = {}
  for (const [what, txt, bot, path, want] of cases) {
    for (const [name, f] of Object.entries(readers)) (got[what] ??= {})[name] = await f(txt, bot, path)
    console.log(what.padEnd(20), 'expected', want, 'observed', JSON.stringify(got[what]))
  }
  const wrong = cases.map(([what, , , , want]) => Object.keys(readers).filter(n => got[what][n] !== want).join('+'))
  console.log('wrong:', wrong.join(' | '))
  const same = wrong.join('|') === 'robots|robots-txt-parser|robots+robots-txt-guard|robots-txt-parser'
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})()
JS
node run.js
