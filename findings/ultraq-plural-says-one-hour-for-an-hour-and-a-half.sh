#!/usr/bin/env bash
# @ultraq/icu-message-formatter drops the fraction of a number before it chooses the plural and shows what is left: 1.5 hours are "1 hour";
# and in Portuguese and French the text written for exactly none, =0, is never shown.
#
# What it is: a small formatter of ICU messages ("{n, plural, one {...} other {...}}"), a light stand-in for intl-messageformat.
# Versions: @ultraq/icu-message-formatter 0.15.2; intl-messageformat 10.7.16 for comparison (npm).
# What the docs say: the README sends readers to the ICU syntax of formatjs for "more details on how the plural statement works", and
#   says that # is processed as {key, number}, or emits the value of key. ICU, PluralFormat: explicit values "=n" are looked for first and
#   without the offset; keywords are taken of the number less the offset. UTS 35: plural operands include the visible fraction.
# Guess: the texts of intl-messageformat: 1.5 is "other" and shown as 1.5; =0 before a keyword; with offset:1, =1 means the number 1.
# Seen: # shows 1 for 1.5 and 0 for 0.9, with the word for one (or none); {n} beside it shows 1.5. In pt and fr "0 estrela" for =0 {nenhuma
#   estrela}, as 0 is of the category one there, which is tried first. ja and de get "one" or "=0" for a fraction. With offset:1,
#   n = 1 is answered by =0, and n = 0 with "A and -1 other".
# Why: parseInt(value), less the offset, is used for everything, and "=n" comes after the keyword in the list that is tried.
# Wrong number for a user: "the outage lasted 1 hour" for 1.9 of them, "0 GB free" for 0.9; a digest in Portuguese says "0 estrela".
# Instead: intl-messageformat, or a plural handler of one's own with the whole value and =n in front.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm i --silent --no-audit --no-fund --ignore-scripts @ultraq/icu-message-formatter@0.15.2 intl-messageformat@10.7.16 >/dev/null
cat > run.cjs <<'JS'
const { MessageFormatter, pluralTypeHandler } = require('@ultraq/icu-message-formatter')
const { IntlMessageFormat } = require('intl-messageformat')
for (const n of ['@ultraq/icu-message-formatter', 'intl-messageformat']) console.log(n, JSON.parse(require('fs').readFileSync(`node_modules/${n}/package.json`)).version)
const both = (locale, message, n) => {
  const expected = new IntlMessageFormat(message, locale).format({ n, who: 'A' }), observed = new MessageFormatter(locale, { plural: pluralTypeHandler }).format(message, { n, who: 'A' })
  console.log(locale, String(n).padEnd(3), 'expected', JSON.stringify(expected).padEnd(26), 'observed', JSON.stringify(observed), expected === observed ? '' : ' <-')
  return observed + '|' + expected
}
const hours = {
  en: '{n, plural, =0 {no hours} one {# hour} other {# hours}}', de: '{n, plural, =0 {keine Stunden} one {# Stunde} other {# Stunden}}',
  es: '{n, plural, =0 {ninguna hora} one {# hora} other {# horas}}', pt: '{n, plural, =0 {nenhuma estrela} one {# estrela} other {# estrelas}}',
  fr: '{n, plural, =0 {aucune étoile} one {# étoile} other {# étoiles}}', ja: '{n, plural, =0 {なし} other {#時間}}'
}
const seen = {}
for (const locale in hours) for (const n of [0, 1, 2]) seen[locale + n] = both(locale, hours[locale], n)
for (const [locale, n] of [['en', 1.5], ['de', 1.9], ['es', 2.5], ['ja', 0.9]]) seen[locale + n] = both(locale, hours[locale], n)
const offset = '{n, plural, offset:1 =0 {nobody} =1 {{who} alone} one {{who} and # other} other {{who} and # others}}'
for (const n of [0, 1, 2, 3]) seen['offset' + n] = both('en', offset, n)
const is = (key, observed, expected) => seen[key] === observed + '|' + expected
const same = is('en1', '1 hour', '1 hour') && is('en2', '2 hours', '2 hours') && is('de0', 'keine Stunden', 'keine Stunden')
  && seen['en1.5'] === '1 hour|1.5 hours' && seen['de1.9'] === '1 Stunde|1,9 Stunden' && is('es2.5', '2 horas', '2,5 horas') && is('ja0.9', 'なし', '0.9時間')
  && is('pt0', '0 estrela', 'nenhuma estrela') && is('fr0', '0 étoile', 'aucune étoile') && is('offset0', 'A and -1 other', 'nobody') && is('offset1', 'nobody', 'A alone')
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
