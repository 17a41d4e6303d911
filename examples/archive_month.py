"""Downloads the tables of one month of an Almanac archive, and compares every file with its digest.

Usage: python3 archive_month.py https://observatory.example/archive 2026-11 DIR

Only closed days are downloaded: they never change, so a day that is complete in DIR is not requested again.
`almanac archive verify` also checks the log and its signature, which this example does not.
"""

import hashlib
import json
import pathlib
import sys
import urllib.request


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.read()


def download(base, month, folder):
    days = json.loads(fetch(f"{base}/index.json"))["days"]
    for listed in days:
        day = listed["day"]
        if listed["state"] != "closed" or not day.startswith(f"{month}-"):
            continue
        target = folder / "days" / day
        record_file = target / "day.json"
        if record_file.exists() and hashlib.sha256(record_file.read_bytes()).hexdigest() == listed["sha256"]:
            continue
        record = fetch(f"{base}/days/{day}/day.json")
        if hashlib.sha256(record).hexdigest() != listed["sha256"]:
            raise ValueError(f"the record of {day} does not match the index")
        target.mkdir(parents=True, exist_ok=True)
        for file in json.loads(record)["files"]:
            name = file["name"]
            if not name.endswith((".csv", ".parquet", "gaps.json")):
                continue
            body = fetch(f"{base}/days/{day}/{name}")
            if hashlib.sha256(body).hexdigest() != file["sha256"]:
                raise ValueError(f"{name} of {day} does not match the record of the day")
            (target / name).write_bytes(body)
        # Written last: a day without its record is downloaded again.
        record_file.write_bytes(record)
        print(f"{day}  sha256:{listed['sha256']}")


if __name__ == "__main__":
    download(sys.argv[1].rstrip("/"), sys.argv[2], pathlib.Path(sys.argv[3]))
