#!/usr/bin/env bash
# A pino log with maxLength that met a full disk writes nothing any more, although there is room again: sonic-boom drops each line
# because its buffer is full, and empties the buffer only when it takes a line.
#
# What it is: sonic-boom is the file writer of pino, the logger of many Node servers (pino.destination); maxLength bounds its memory.
# Versions: pino 10.4.0, sonic-boom 4.2.1 (npm), Node 20.
# What the docs say: README of sonic-boom: maxLength is the maximum length of the internal buffer; what would exceed it is dropped,
#   with a drop event. Nothing says that this is for good; without maxLength lines are kept and written once that is possible.
# Guess: lines are lost while there is no room; afterwards the log goes on, with or without maxLength.
# Seen: without maxLength all 400 lines are in the file at the end. With it the file never grows again: all of the 200 lines that follow
#   the return of room are dropped, also with periodicFlush, which does nothing unless minLength is set as well. (A limit on the file
#   size, lifted after 200 lines, stands for the disk: writes fail with EFBIG instead of ENOSPC; both take the same path.)
# Why: after an error that is not EAGAIN or EBUSY no new attempt is planned; the next write() would make one, but checks first whether
#   the line fits into the buffer, which holds what could not be written.
# Wrong claim for a user: "no errors since Tuesday" in the log of a service that runs and fails; health checks are green.
# Instead: give minLength: 1 and periodicFlush beside maxLength (the fourth run goes on), and count "drop" where it is seen.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true,"type":"module"}' > package.json && npm install --silent --no-audit --no-fund pino@10.4.0 sonic-boom@4.2.1 >/dev/null
cat > run.mjs <<'JS'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pino from 'pino'
const options = JSON.parse(process.argv[2]), dest = pino.destination({ dest: 'log', sync: false, ...options }), log = pino(dest)
const errors = new Set(); let dropped = 0
dest.on('error', e => errors.add(e.code)).on('drop', () => dropped++)
const lines = () => readFileSync('log', 'utf8').split('\n').length - 1
const burst = async (from, to) => { for (let i = from; i < to; i++) { log.info({ i }, 'hour done'); await wait(3) } await wait(200) }
await burst(0, 200)
const full = { lines: lines(), dropped }
execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited:unlimited'])
await burst(200, 400)
console.log(JSON.stringify({ ...options, fullAfter: full.lines, droppedUntilRoom: full.dropped, linesAtTheEnd: lines(), droppedWithRoom: dropped - full.dropped, errors: [...errors] }))
process.exit(0)
JS
once() { rm -f log; (ulimit -S -f 8; node run.mjs "$1") | tee "out$2"; }
node -p '"pino " + require("pino/package.json").version + ", sonic-boom " + require("sonic-boom/package.json").version + ", node " + process.version'
once '{}' 1; once '{"maxLength":4096}' 2; once '{"maxLength":4096,"periodicFlush":100}' 3; once '{"maxLength":4096,"minLength":1,"periodicFlush":100}' 4
node -e 'const [a, b, c, d] = [1, 2, 3, 4].map(n => JSON.parse(require("fs").readFileSync("out" + n)))
const silent = r => r.linesAtTheEnd === r.fullAfter && r.droppedWithRoom === 200
const same = a.linesAtTheEnd === 400 && silent(b) && silent(c) && d.droppedWithRoom < 100 && d.linesAtTheEnd > d.fullAfter + 100
console.log(same ? "still as stated" : "changed"); process.exit(same ? 0 : 1)'
