#!/usr/bin/env bash
# rolling-stats keeps half of the values that have left its window: a minute after ten events it still counts five of them in the
# last second, and its smallest value of all time is 0 where every value was 7 or more.
#
# What it is: count, sum, mean, deviation and rate of the events of the last so many milliseconds, for Node; by the author of Seneca.
# Versions: rolling-stats 0.2.1 (npm); the window is taken by hand as well, for comparison.
# What the docs say: the README only says that it calculates rolling statistics of point events. The parameters are the number of
#   points and the duration, and what it returns has from and now, the borders of the window, beside allmin, the minimum of all.
# Guess: of points put in at 0 and a window of 1,000 ms, none is left at 60,000 ms; allmin is the smallest value, 7.
# Seen: of ten points five are left, with sum, mean and rate; a second call leaves 2, a third 1, a fourth none, all at the same
#   time. Of 1, 2, 3 and 4 points 0, 1, 1 and 2 are left. allmin is 0 and minrate is 0.
# Why: the loop that drops old points runs while i++ < count and lowers count in each turn, so that the two meet in the middle.
#   allmin begins with 0, and the test for "not yet set" is for null.
# Wrong for a user: a service that fell silent an hour ago still shows events in the last second, and the number depends on how
#   often somebody looked. A slowest or lowest value of 0 that never occurred.
# Instead: call calculate() until count no longer changes, and keep the minimum yourself.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null; npm i --silent --no-audit --no-fund --ignore-scripts rolling-stats@0.2.1 >/dev/null
cat > run.cjs <<'JS'
const RollingStats = require('rolling-stats')
console.log('rolling-stats', require('rolling-stats/package.json').version)
const after = (points, calls) => {
  let now = 0
  const stats = RollingStats(100, 1000, () => now)
  for (let i = 0; i < points; i++) stats.point(7 + i)
  now = 60000
  return Array.from({ length: calls }, () => stats.calculate())
}
// what the window of the docs holds: the points younger than the duration
const window = (points) => Array.from({ length: points }, () => 0).filter(time => time > 60000 - 1000).length
const ten = after(10, 4)
console.log('ten points at 0 ms, window from', ten[0].from, 'to', ten[0].now, ': count', ten.map(r => r.count).join(', then '), '- by hand', window(10))
console.log('first call: sum', ten[0].sum, 'mean', ten[0].mean, 'rate', ten[0].rate, 'allmin', ten[0].allmin, 'minrate', ten[0].minrate, 'min', ten[0].min)
const left = [1, 2, 3, 4, 100].map(n => after(n, 1)[0].count)
console.log('left of 1, 2, 3, 4 and 100 points:', left.join(' '))
const same = ten.map(r => r.count).join() === '5,2,1,0' && window(10) === 0 && left.join() === '0,1,1,2,50' && ten[0].allmin === 0 && ten[0].min >= 7
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
