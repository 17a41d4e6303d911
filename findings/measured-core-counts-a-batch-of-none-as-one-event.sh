#!/usr/bin/env bash
# measured-core counts mark(0), an empty batch, as one event, and a meter with a tick of one second gives five times the true rate, one
# with a tick of ten seconds half of it.
#
# What it is: counters, meters and histograms for Node, of the family of Coda Hale's metrics.
# Versions: measured-core 2.0.0 (npm).
# What the docs say: mark(n): "Register n events as having just occured. Defaults to 1."; tickInterval: "The interval in which the
#   averages are updated. Defaults to 5000 (5 sec)."
# Guess: mark(0) changes nothing; at ten events a second 1MinuteRate is 10 after an hour, whatever the tick.
# Seen: an hour in which 50 of 60 batches are empty and 10 hold one event has 60 events; Counter.inc(0) is right, with 10. With tickInterval 1000 the rate is 50, with
#   10000 it is 5, without one 10; count and mean are right in all three.
# Why: n || 1 takes 0 for "not given"; the averages reckon with the tick that was asked for, but the timer is always set to five
#   seconds.
# Wrong number for a user: a quiet night at one batch a minute shows as a steady one event a minute, and no alarm rings; with another tick the
#   rate in the chart and the count beside it do not agree.
# Instead: if (n) meter.mark(n), and leave tickInterval alone.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts measured-core@2.0.0 >/dev/null
cat > run.cjs <<'JS'
let now = 0
const timers = []                                       // a clock of our own, so that nobody has to wait for an hour
globalThis.setInterval = (run, ms) => { const timer = { run, ms, due: now + ms, ref() {}, unref() {} }; timers.push(timer); return timer }
const { Meter, Counter } = require('measured-core')
console.log('measured-core', require('./node_modules/measured-core/package.json').version)
const advance = (ms) => { now += ms; for (const timer of timers) while (timer.due <= now) { timer.run(); timer.due += timer.ms } }
const getTime = () => now
const meter = new Meter({ getTime }), counter = new Counter(), batches = Array.from({ length: 60 }, (_, i) => i % 6 === 0 ? 1 : 0)
for (const events of batches) { meter.mark(events); counter.inc(events) }
const sum = batches.reduce((a, b) => a + b)
const counts = [meter.toJSON().count, counter.toJSON()]
console.log(`events in 60 batches: expected ${sum} and ${sum}; observed meter ${counts[0]}, counter ${counts[1]}`)
const rates = {}
for (const tickInterval of [undefined, 1000, 10000]) {
  now = 0; timers.length = 0
  const steady = new Meter({ getTime, tickInterval })
  for (let tenth = 0; tenth < 36000; tenth++) { advance(100); steady.mark() }
  const { mean, count, '1MinuteRate': rate } = steady.toJSON()
  rates[tickInterval ?? 'default'] = rate.toFixed(1)
  console.log(`tick ${tickInterval ?? 'by default (5000)'}: expected 10.0 a second; observed 1MinuteRate ${rate.toFixed(1)}, mean ${mean.toFixed(1)}, count ${count}`)
}
const same = counts[0] === 60 && counts[1] === 10 && rates.default === '10.0' && rates[1000] === '50.0' && rates[10000] === '5.0'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
