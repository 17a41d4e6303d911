#!/usr/bin/env bash
# fast-plural-rules calls "few" in Lithuanian what CLDR calls "other", and the other way round; in Russian, Ukrainian and Polish it says
# "other" for 5 to 20, which CLDR keeps for fractions, so a text made for CLDR's names is shown in the wrong case.
#
# What it is: finds the plural form of a number in about 150 languages, as an index or as a name, for libraries of translations.
# Versions: fast-plural-rules 2.0.2, @phensley/plurals 1.14.0 (npm) and the Intl.PluralRules of Node for comparison.
# What the docs say: design.md: instead of by its index a form can be referred to by one of the six CLDR plural forms. UTS 35, part 3,
#   Language Plural Rules, and CLDR's table: lt: one 1, 21; few 2 to 9, 22 to 29; other 0, 10 to 20. ru, uk, pl: one, few 2 to 4,
#   many 0 and 5 to 20; other only fractions.
# Guess: the names of Intl.PluralRules for whole numbers in the languages both know.
# Seen: lt: 2 is "other" and 10 is "few", 123 of 137 numbers differ; ru, uk, pl: 5 is "other". he: 2 is "other", not "two". cs, sl, ar,
#   ro, de and en are right. @phensley/plurals agrees with Intl in all of them. The indexes are a scheme of their own and consistent.
# Why: names are given to the indexes in a fixed order, one, few, other; but in Mozilla's rule for Lithuanian, on which the index rests,
#   the second form is the one for 10, and in that for Slavic languages the third is CLDR's many.
# Wrong for a user: "2 valandų" and "10 valandos" in Lithuanian, "5 часа" in Russian, from right translations, with no error.
# Instead: Intl.PluralRules, or the index with texts in the order of the library's own list.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null; npm i --silent --no-audit --no-fund --ignore-scripts fast-plural-rules@2.0.2 @phensley/plurals@1.14.0 >/dev/null
cat > run.cjs <<'JS'
const fast = require('fast-plural-rules'), { pluralRules } = require('@phensley/plurals')
console.log(['fast-plural-rules', '@phensley/plurals'].map(n => n + ' ' + JSON.parse(require('fs').readFileSync(`node_modules/${n}/package.json`)).version).join(', '), 'ICU', process.versions.icu)
const numbers = [...Array(131).keys(), 200, 201, 1000, 1001, 1100, 1101]
const wrong = {}
let agree = true
for (const language of ['lt', 'ru', 'uk', 'pl', 'he', 'cs', 'sl', 'ar', 'ro', 'de', 'en']) {
  const intl = new Intl.PluralRules(language), other = pluralRules.get(language)
  wrong[language] = numbers.filter(n => fast.getPluralFormNameForCardinalByLocale(language, n) !== intl.select(n)).length
  agree &&= numbers.every(n => other.cardinal(n) === intl.select(n))
  const row = [1, 2, 5, 10].map(n => `${n} ${fast.getPluralFormNameForCardinalByLocale(language, n)}${fast.getPluralFormNameForCardinalByLocale(language, n) === intl.select(n) ? '' : ' (CLDR: ' + intl.select(n) + ')'}`)
  console.log(language, 'differs for', String(wrong[language]).padStart(3), 'of', numbers.length, ' ', row.join(', '))
}
const hours = { one: 'valanda', few: 'valandos', other: 'valandų' }
const say = (n, name) => `${n} ${hours[name]}`
console.log('Lithuanian:', [2, 10].map(n => say(n, fast.getPluralFormNameForCardinalByLocale('lt', n))).join(', '), ' Intl:', [2, 10].map(n => say(n, new Intl.PluralRules('lt').select(n))).join(', '))
console.log('@phensley/plurals agrees with Intl:', agree)
const name = (l, n) => fast.getPluralFormNameForCardinalByLocale(l, n)
const same = agree && name('lt', 2) === 'other' && name('lt', 10) === 'few' && ['ru', 'uk', 'pl'].every(l => name(l, 5) === 'other') && name('he', 2) === 'other'
  && wrong.lt > 100 && ['cs', 'sl', 'ar', 'ro', 'de', 'en'].every(l => wrong[l] === 0)
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
