"""How busy is the network? python3 network_activity.py BASE-ADDRESS. Exit code 3 when the service refuses the fact."""

from facts import currency, fact, known

body = fact("/v1/weather/metrics", "atproto.facts.weather.metrics/v1")
facts = body["facts"]
window, total = facts["window"], facts["total_events"]
print("origin", body["provenance"].get("origin", "not stated"), sep="\t")
# Weather is never refused for its age: unless this is `current` or `partial`, the numbers do not describe the present.
print("currency", currency(body), sep="\t")
print("window", known(window["start"]), known(window["end"]), sep="\t")
print("observed", f"{window['observed_seconds']} of {window['span_seconds']} seconds", sep="\t")
print("all events", known(total["total"]), f"{known(total['mean_rate_per_s'])} a second", sep="\t")
for name, metrics in facts["collections"].items():
    # Missing or null means that it was not observed. It is not a zero.
    if metrics is None:
        print(name, "not observed", sep="\t")
    else:
        print(name, metrics["total"], f"{known(metrics['mean_rate_per_s'])} a second", sep="\t")
# Caveats, and what is not measured, are part of the fact.
for caveat in body["caveats"]:
    print("caveat", caveat, sep="\t")
for thing in body["provenance"].get("does_not_measure", []):
    print("does not measure", thing, sep="\t")
