#!/usr/bin/env bash
# The Rust crate openmetrics-parser refuses a whole page for two series that differ in a label, for two plain metrics, for
# an empty line after a TYPE line, or for a summary with its time of creation: all of them allowed.
#
# What it is: openmetrics-parser reads the OpenMetrics and the Prometheus text formats into families of metrics.
# Versions: openmetrics-parser 0.5.1 (crates.io); prometheus_client 0.26.0 (PyPI) for comparison.
# What the docs say: the README: it conforms to all test cases of OpenMetrics. OpenMetrics 1.0: a label with an empty value
#   equals an absent one ("Label"), so that the labels of a family may differ; a summary may have _created ("Summary", and the
#   example of the text format); "# EOF" alone is a page (ABNF). Prometheus, "Exposition formats": empty lines are ignored,
#   words may be parted by tabs, what starts with # but is not HELP or TYPE is a comment, and a metric without TYPE is untyped.
# Guess: all twelve pages are read.
# Seen: the three controls are read, nine are refused. The reason given does not always fit: "Missing mandatory label for
#   metric: quantile" for _created, "after that family was finalised" for an empty line. prometheus_client reads all.
# Why: the first series of a family sets the labels of all others; an empty line ends a family; only the lines _sum and
#   _count of a summary may lack a quantile.
# Wrong for a user: one metric of the page makes all others unreadable, perhaps from one day to the next: the first series with
#   one label more comes, say, with the first error that is counted.
# Instead: prometheus_client; a page for this crate gives all series of a family the same labels and has no empty lines.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src pages
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2021"
[dependencies]
openmetrics-parser = "=0.5.1"
TOML
page() { printf '%b' "$2" > "pages/$1"; }
# The first letter is the format, o for OpenMetrics and p for the older one of Prometheus; the second: r is read, x is refused.
page or-summary '# TYPE s summary\ns_count 17\ns_sum 34\n# EOF\n'
page or-one-label '# TYPE a gauge\na{repo="x"} 1\na{repo="y"} 2\n# EOF\n'
page ox-summary-created '# TYPE s summary\ns_count 17\ns_sum 34\ns_created 1764450000.5\n# EOF\n'
page ox-two-labels '# TYPE a gauge\na{repo="x"} 1\na{repo="x",collection="y"} 2\n# EOF\n'
page ox-info '# TYPE b info\nb_info{name="x"} 1\nb_info{name="y",version="2"} 1\n# EOF\n'
page ox-no-metric '# EOF\n'
page pr-one-plain-metric 'a 1\n'
page px-two-plain-metrics 'a 1\nb 2\n'
page px-empty-line '# TYPE a gauge\n\na 1\n'
page px-tab '# TYPE a gauge\na\t1\n'
page px-two-labels '# TYPE a gauge\na{repo="x"} 1\na 2\n'
page px-comment '#first\n# TYPE a gauge\na 1\n'
cat > src/main.rs <<'RUST'
use openmetrics_parser::{openmetrics::parse_openmetrics, prometheus::parse_prometheus};

fn main() {
    let mut pages: Vec<_> = std::fs::read_dir("pages").expect("pages").map(|page| page.expect("a page").path()).collect();
    pages.sort();
    for path in pages {
        let name = path.file_name().expect("a name").to_string_lossy().to_string();
        let text = std::fs::read_to_string(&path).expect("text");
        let error = if name.starts_with('o') { parse_openmetrics(&text).err() } else { parse_prometheus(&text).err() };
        let reason = error.map_or("read".to_string(), |error| format!("refused: {}", error.to_string().lines().last().unwrap_or("").trim()));
        println!("{name}: {reason}");
    }
}
RUST
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile prometheus_client==0.26.0
cat > other.py <<'PY'
from pathlib import Path
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics
for path in sorted(Path('pages').iterdir()):
    read = openmetrics if path.name[0] == 'o' else parser
    print(path.name, sum(len(family.samples) for family in read.text_string_to_metric_families(path.read_text())))
PY
v/bin/python other.py > other.txt
nice cargo run -q > seen.txt
echo 'openmetrics-parser 0.5.1; expected: read'; cut -c1-120 seen.txt
echo 'prometheus_client 0.26.0, samples:'; paste -sd' ' other.txt
stated='or:read or:read ox:refused ox:refused ox:refused ox:refused pr:read px:refused px:refused px:refused px:refused px:refused'
if [ "$(sed -E 's/^(..)[^:]*: ([a-z]+).*/\1:\2/' seen.txt | LC_ALL=C sort | paste -sd' ')" = "$stated" ] && [ "$(wc -l < other.txt)" = 12 ]
then echo 'still as stated'; else echo 'changed'; exit 1; fi
