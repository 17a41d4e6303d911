"""Downloads the tables of one month of an Almanac archive, and compares every file with its digest.

Usage: python3 archive_month.py https://observatory.example/archive 2026-11 DIR

Only closed days are downloaded: they never change, so the files of a day that are in DIR are not requested again.
The publisher may withdraw a file of a closed day: its copy in DIR is deleted.
Prints one line per downloaded day, with the digest to cite, and then how many days of the month are missing.
Then writes each table of all days in DIR as one file (DIR/labels-totals.csv), with a description that many tools read
(DIR/datapackage.json, and DIR/csv-metadata.json for tools of CSV on the Web). The programs in examples/archive load and draw these files.
`almanac archive verify` also checks the log and its signature, which this example does not.
"""

import calendar
import hashlib
import http.client
import json
import pathlib
import re
import sys
import time
import urllib.error
import urllib.request


def fetch(url):
    """Requests a file again if the server is busy, limits the rate of requests, or breaks off the response."""
    for delay in (1, 2, 4, 8, 16):
        try:
            return fetch_once(url)
        except urllib.error.HTTPError as error:
            stated = error.headers.get("Retry-After", "")
            seconds = max(delay, int(stated) if re.fullmatch(r"\d{1,6}", stated) else 0)
            if error.code not in (429, 502, 503, 504) or seconds > 300:
                raise
            time.sleep(seconds)
        except (http.client.HTTPException, ConnectionError):
            time.sleep(delay)
    return fetch_once(url)


def fetch_once(url):
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.read()


def download(base, month, folder):
    days = [listed for listed in json.loads(fetch(f"{base}/index.json"))["days"] if listed["day"].startswith(f"{month}-")]
    closed = [listed for listed in days if listed["state"] == "closed"]
    for listed in closed:
        # Check every name of the archive, so that no file is written outside DIR.
        if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", listed["day"]):
            raise ValueError(f"the name of a day is invalid: {listed['day']!r}")
        download_day(base, listed, folder / "days" / listed["day"])
    in_month = calendar.monthrange(*map(int, month.split("-")))[1]
    open_days = len(days) - len(closed)
    print(
        f"{month}: {len(closed)} closed days of {in_month}; {open_days} open, which still change; "
        f"{in_month - len(days)} not in the archive",
        file=sys.stderr,
    )


def download_day(base, listed, target):
    day = listed["day"]
    record_file = target / "day.json"
    record = record_file.read_bytes() if record_file.exists() else b""
    is_new = hashlib.sha256(record).hexdigest() != listed["sha256"]
    if is_new:
        record = fetch(f"{base}/days/{day}/day.json")
        if hashlib.sha256(record).hexdigest() != listed["sha256"]:
            raise ValueError(f"the record of {day} does not match the index")
    withdrawn = withdrawn_files(base, day)
    target.mkdir(parents=True, exist_ok=True)
    for file in json.loads(record)["files"]:
        name = checked_name(file["name"])
        if not name.endswith((".csv", ".parquet", "gaps.json", "datapackage.json")):
            continue
        if (name, file["sha256"]) in withdrawn:
            (target / name).unlink(missing_ok=True)
        elif is_new or not (target / name).exists():
            body = fetch(f"{base}/days/{day}/{name}")
            if hashlib.sha256(body).hexdigest() != file["sha256"]:
                raise ValueError(f"{name} of {day} does not match the record of the day")
            (target / name).write_bytes(body)
    if is_new:
        # Written last: a day without its record is downloaded again.
        record_file.write_bytes(record)
        print(f"{day}  sha256:{listed['sha256']}")


def checked_name(name):
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}\.(json|jsonl|csv|parquet)", name):
        raise ValueError(f"the name of a file is invalid: {name!r}")
    return name


def withdrawn_files(base, day):
    """Returns the names and digests of the withdrawn files of a day. The record of a closed day still lists them."""
    try:
        withdrawn = fetch(f"{base}/days/{day}/withdrawn.json")
    except urllib.error.URLError as error:
        # A copy of an archive on the disk has an address that begins with `file:`.
        if getattr(error, "code", None) == 404 or isinstance(error.reason, FileNotFoundError):
            return set()
        raise
    return {(file["name"], file["sha256"]) for file in json.loads(withdrawn)["files"]}


def join_days(folder):
    """Writes each table of all downloaded days as one CSV file. Older days have other tables, and are left out."""
    days, older = [], []
    for record_file in sorted(folder.glob("days/*/day.json")):
        (days if has_current_tables(record_file) else older).append(record_file.parent)
    if older:
        names = " ".join(day.name for day in older)
        print(f"not joined, because they have older tables: {names}", file=sys.stderr)
    # The description is the same for each day, and one that was withdrawn is missing.
    described = [day / "datapackage.json" for day in days if (day / "datapackage.json").exists()]
    if not described:
        if days:
            print("nothing is joined: datapackage.json of every day was withdrawn or withheld; delete older joined tables", file=sys.stderr)
        return
    package = json.loads(described[-1].read_bytes())
    incomplete = set()
    for resource in package["resources"]:
        path = checked_name(resource["path"])
        lines = [",".join(field["name"] for field in resource["schema"]["fields"]) + "\n"]
        for day in days:
            if not (day / path).exists():
                incomplete.add(resource["name"])
                print(f"{day.name}: {path} was withdrawn or withheld: its rows are missing", file=sys.stderr)
                continue
            with open(day / path, encoding="utf-8", newline="\n") as table:
                lines += list(table)[1:]
        replace(folder / path, "".join(lines))
    for resource in package["resources"]:
        relax(resource["schema"], resource["name"], incomplete)
    package["name"] = "almanac"
    package["title"] = f"Observations of the AT Protocol network, {days[0].name} to {days[-1].name}, in UTC"
    replace(folder / "datapackage.json", json.dumps(package, indent=1) + "\n")
    replace(folder / "csv-metadata.json", json.dumps(csvw(package), indent=1) + "\n")


def has_current_tables(record_file):
    record = json.loads(record_file.read_bytes())
    names = [file["name"] for file in record["files"]] + record.get("withheld", [])
    return "datapackage.json" in names


def relax(schema, name, incomplete):
    """Removes the keys that hold for each day, but not for all days together."""
    # Times of gaps are in whole seconds, so two gaps of a scope can have the same start.
    if name in ("weather-gaps", "labels-gaps"):
        schema.pop("primaryKey", None)
    # Rows that refer to a row of a missing file are valid.
    kept = [key for key in schema.pop("foreignKeys", []) if key["reference"]["resource"] not in incomplete]
    if kept:
        schema["foreignKeys"] = kept


def csvw(package):
    """Returns the description as CSV on the Web (https://www.w3.org/TR/tabular-metadata/) has it."""
    return {
        "@context": "http://www.w3.org/ns/csvw",
        "dc:title": package["title"],
        "dc:license": {"@id": "https://creativecommons.org/publicdomain/zero/1.0/"},
        "tables": [
            {
                "url": resource["path"],
                "dc:description": resource["description"],
                "tableSchema": {
                    "columns": [csvw_column(field) for field in resource["schema"]["fields"]],
                    **({"primaryKey": resource["schema"]["primaryKey"]} if "primaryKey" in resource["schema"] else {}),
                    "foreignKeys": [
                        {
                            "columnReference": key["fields"],
                            "reference": {
                                "resource": f"{key['reference']['resource']}.csv",
                                "columnReference": key["reference"]["fields"],
                            },
                        }
                        for key in resource["schema"].get("foreignKeys", [])
                    ],
                },
            }
            for resource in package["resources"]
        ],
    }


def csvw_column(field):
    base = {"datetime": "dateTime"}.get(field["type"], field["type"])
    bound = {"minimum": 0} if "minimum" in field["constraints"] else {}
    unit = {"dc:description": field["unit"]} if "unit" in field else {}
    return {"name": field["name"], "titles": field["name"], "datatype": {"base": base, **bound}, "required": True, **unit}


def replace(path, text):
    growing = path.with_name(f".{path.name}.tmp")
    growing.write_text(text, encoding="utf-8", newline="\n")
    growing.replace(path)


if __name__ == "__main__":
    if len(sys.argv) != 4 or not re.fullmatch(r"\d{4}-(?:0[1-9]|1[0-2])", sys.argv[2]):
        sys.exit("usage: python3 archive_month.py https://observatory.example/archive 2026-11 DIR")
    address = sys.argv[1].rstrip("/")
    try:
        download(address, sys.argv[2], pathlib.Path(sys.argv[3]))
        join_days(pathlib.Path(sys.argv[3]))
    except urllib.error.HTTPError as error:
        missing = error.code == 404 and error.url == f"{address}/index.json"
        hint = "; there is no archive at this address, which usually ends in /archive" if missing else ""
        sys.exit(f"archive_month: {error.url}: {error}{hint}")
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        sys.exit(f"archive_month: {address}: {error}")
