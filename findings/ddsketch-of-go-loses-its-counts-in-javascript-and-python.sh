#!/usr/bin/env bash
# A DDSketch that the Go library writes with its defaults arrives without its counts in JavaScript and Python: only the zeros
# are left, so the 95th percentile of 60 zeros and the numbers 1 to 40 is 0, and no error is raised.
#
# What it is: a mergeable sketch of quantiles; Datadog publishes it for Go, JavaScript and Python with one Protobuf message.
# Versions: github.com/DataDog/sketches-go v1.4.8 with google.golang.org/protobuf v1.36.11 (Go); @datadog/sketches-js 2.1.1 with
#   protobufjs 7.6.6 (npm); ddsketch 3.0.1 with protobuf 7.36.2 (PyPI).
# What the spec says: ddsketch.proto, at the message Store: bins may be written sparsely (binCounts), contiguously
#   (contiguousBinCounts), or both ways in one message, and the counts of a bin are then added up.
# Guess: all three read 100 values, with quartiles of about 0, 15 and 35.
# Seen: from NewDefaultDDSketch, JavaScript and Python read 60 values and give 0 for every quantile, without any zeros 0 values
#   and NaN or None. From the dense store of Go (LogUnboundedDenseDDSketch) both read 100 values.
# Why: both readers look at contiguousBinCounts alone (the Python one says in a docstring of its own code that it writes and
#   reads dense stores only); the default store of Go writes binCounts alone.
# Wrong number for a user: delays of a Go service, shown by a page in JavaScript: most are below the resolution, and the
#   95th percentile of the others is 0 too; a sum of counts over services has those of the Go services missing.
# Instead: in Go make the sketch with LogUnboundedDenseDDSketch or LogCollapsingLowestDenseDDSketch, and send the count along.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund @datadog/sketches-js@2.1.1 protobufjs@7.6.6 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile ddsketch==3.0.1 protobuf==7.36.2 >/dev/null
printf 'module x\ngo 1.23\nrequire (\n github.com/DataDog/sketches-go v1.4.8\n google.golang.org/protobuf v1.36.11\n)\n' > go.mod
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "github.com/DataDog/sketches-go/ddsketch"; "github.com/DataDog/sketches-go/ddsketch/pb/sketchpb"
	"github.com/DataDog/sketches-go/ddsketch/store"; "google.golang.org/protobuf/proto")
func main() {
	sparse, _ := ddsketch.NewDefaultDDSketch(0.01); dense, _ := ddsketch.LogUnboundedDenseDDSketch(0.01)
	for i, s := range []*ddsketch.DDSketch{sparse, dense} {
		s.AddWithCount(0, 60)
		for n := 1; n <= 40; n++ { s.Add(float64(n)) }
		name := []string{"default", "dense"}[i]
		bytes, _ := proto.Marshal(s.ToProto()); os.WriteFile(name+".pb", bytes, 0o600)
		var message sketchpb.DDSketch; proto.Unmarshal(bytes, &message)
		back, _ := ddsketch.FromProtoWithStoreProvider(&message, store.DenseStoreConstructor)
		q, _ := back.GetValuesAtQuantiles([]float64{0.5, 0.75, 0.95})
		fmt.Printf("go %s: %.0f values; %.0f %.0f %.0f\n", name, back.GetCount(), q[0], q[1], q[2])
	}
}
GO
cat > read.cjs <<'JS'
for (const name of ['default', 'dense']) {
  const s = require('@datadog/sketches-js').DDSketch.fromProto(require('fs').readFileSync(`${name}.pb`))
  console.log(`js ${name}: ${s.count} values; ${[0.5, 0.75, 0.95].map((q) => s.getValueAtQuantile(q).toFixed(0)).join(' ')}`)
}
JS
cat > read.py <<'PY'
from ddsketch.pb import ddsketch_pb2, proto
for name in ('default', 'dense'):
    s = proto.DDSketchProto.from_proto(ddsketch_pb2.DDSketch.FromString(open(f'{name}.pb', 'rb').read()))
    print(f'py {name}: {s.count:.0f} values;', *(f'{s.get_quantile_value(q):.0f}' for q in (0.5, 0.75, 0.95)))
PY
GOFLAGS=-mod=mod GOTOOLCHAIN=local go run . > seen.txt 2> go.log || { cat go.log; exit 1; }
node read.cjs >> seen.txt; v/bin/python read.py >> seen.txt
echo 'reader, store of the writer: expected 100 values; 0 15 35 everywhere (to about 2 %)'; cat seen.txt
printf '%s\n' 'go default: 100 values; 0 15 35' 'go dense: 100 values; 0 15 35' 'js default: 60 values; 0 0 0' \
  'js dense: 100 values; 0 15 34' 'py default: 60 values; 0 0 0' 'py dense: 100 values; 0 15 34' > stated.txt
if diff seen.txt stated.txt; then echo 'still as stated'; else echo 'changed'; exit 1; fi
