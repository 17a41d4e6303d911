"""Reads the tables that archive_month.py downloaded, with types, and prints the mean of the labels of each day.

Usage: python3 load.py DIR

Needs no packages. A row exists only for what was observed, so a mean over the rows is a mean over observed hours.
"""

import csv
import datetime
import json
import pathlib
import sys

TYPES = {
    "date": datetime.date.fromisoformat,
    "datetime": lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")),
    "integer": int,
    "number": float,
    "string": str,
}


def load(folder):
    """Returns the rows of each table by its name, as dictionaries with typed values."""
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    return {resource["name"]: list(rows(folder, resource)) for resource in package["resources"]}


def rows(folder, resource):
    types = {field["name"]: TYPES[field["type"]] for field in resource["schema"]["fields"]}
    with open(folder / resource["path"], newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            yield {name: types[name](text) for name, text in row.items()}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 load.py DIR")
    tables = load(pathlib.Path(sys.argv[1]))
    for day in sorted({row["day"] for table in tables.values() for row in table if "day" in row}):
        own = [row for row in tables["labels-totals"] if row["day"] == day]
        gaps = [row for row in tables["labels-gaps"] if row["day"] == day and row["scope"] == "all"]
        missing = sum(row["seconds"] for row in gaps) / 3600
        if not own:
            print(f"{day}: no hour in labels-totals; {missing:.2f} hours not observed")
            continue
        mean = sum(row["applications"] for row in own) / len(own)
        observed = sum(row["observed_seconds"] for row in own) / 3600
        print(f"{day}: {mean:.1f} applications an hour in {observed:g} observed hours; {missing:.2f} hours not observed")
