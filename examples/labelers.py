"""What do labelers do? python3 labelers.py BASE-ADDRESS. Exit code 3 when the service refuses the fact."""

from facts import fact, known

body = fact("/v1/labels/overview", "atproto.facts.labels.overview/v1")
facts = body["facts"]
print("origin", body["provenance"].get("origin", "not stated"), sep="\t")
print("freshness", body["freshness"]["state"], sep="\t")
if "counts" in facts:
    coverage, counts, sources = facts["coverage"], facts["counts"], facts["coverage"]["sources"]
    gaps = "more than can be listed" if coverage["gap_overflow"] else len(coverage["gaps"])
    print("coverage", coverage["status"], f"{coverage['observed_days']} of {facts['window_days']} days", sep="\t")
    print("gaps", gaps, sep="\t")
    print("sources", f"{sources['established']} of {sources['enrolled']} established", sep="\t")
    print("events in 24 hours", counts["events_24h"], sep="\t")
    print("events in 7 days", counts["events_7d"], sep="\t")
    print("events in the window", counts["events_window"], sep="\t")
    print("labelers active in 7 days", counts["labelers_active_7d"], sep="\t")
else:
    # The legacy producer counts alerts, and states how complete its observation was.
    print("observation", facts.get("observation", {}).get("adequacy", "not known"), sep="\t")
    print("signals", ", ".join(facts["network_weather"]["signals"]), sep="\t")
    print("alerts in 7 days", known(facts["alert_count_window"]), sep="\t")
for labeler in facts["top_labelers_7d"]:
    print(labeler["labeler_did"], labeler["count"], sep="\t")
# Caveats, and what is not measured, are part of the fact.
for caveat in body["caveats"]:
    print("caveat", caveat, sep="\t")
for thing in body["provenance"].get("does_not_measure", []):
    print("does not measure", thing, sep="\t")
