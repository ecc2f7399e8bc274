#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the simulator: what an exchange costs beyond its airtime, how soon a tag is on the page and on the scanning sheet, and
what idling costs.

Usage: swift build -c release --product TagReader && swift build --package-path Simulator -c release
       NFC_SIMULATOR=Simulator/.build/release/nfc-simulator Simulator/Tests/clients/benchmark.py [EXCHANGES]

The sheet is that of the sample app, .build/release/TagReader or NFC_SAMPLE_APP; without it, that figure is left out. Prints one JSON
object. Ends with status 1 where a figure is worse than it has to be.
"""
import json
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from running_simulator import Simulator  # noqa: E402

LIMITS = {"exchange_us": 200, "airtime_excess_us": 200, "arrival_ms": 50, "sheet_ms": 50, "idle_percent": 0.5}
SAMPLE = os.environ.get("NFC_SAMPLE_APP", str(pathlib.Path(__file__).resolve().parents[3] / ".build/release/TagReader"))


def exchanges(simulator, count):
    """The time of an exchange over the socket with `instant`, and its excess over the airtime without."""
    page, program = simulator.page(), simulator.connect(name="Benchmark")
    tag = page.ask("new_tag", product="NTAG215")["tag"]
    page.ask("hold", tag=tag)
    program.ask("claim")
    program.ask("carrier", on=True)
    program.frame("nfc-a", "26", bits=7, checksum="none")
    for level in ["93", "95"]:
        part = program.frame("nfc-a", level + "20", checksum="none")["bytes"]
        program.frame("nfc-a", level + "70" + part)
    line = json.dumps({"id": 1, "do": "frame", "technology": "nfc-a", "bytes": "3004", "timeout_us": 5000}).encode() + b"\n"

    def measure(count):
        times, answer = [], b""
        for _ in range(count):
            start = time.perf_counter()
            program.socket.sendall(line)
            answer = program.socket.recv(1 << 16)
            while not answer.endswith(b"\n"):
                answer += program.socket.recv(1 << 16)
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1e6, json.loads(answer.splitlines()[-1])["elapsed_us"]

    real, airtime = measure(min(count, 500))
    page.ask("switch", name="instant", value=True)
    program.event("switches")
    program.event("switches")
    instant, _ = measure(count)
    page.ask("leave")
    program.close()
    page.close()
    return instant, real - airtime


def arrival(simulator):
    """How long after the action a window has the tag as near."""
    actor, page = simulator.page(), simulator.page()
    times = []
    for _ in range(20):
        start = time.perf_counter()
        actor.ask("hold", tag="empty-sticker")
        page.until(lambda page: page.tag("empty-sticker")["near"])
        times.append(time.perf_counter() - start)
        actor.ask("leave")
        page.until(lambda page: not page.tag("empty-sticker")["near"])
    return statistics.median(times) * 1e3


def sheet():
    """How long after a tag was brought near the scanning sheet of an app shows it, beyond the airtime until then."""
    if not os.access(SAMPLE, os.X_OK):
        return None
    simulator = Simulator("--app", SAMPLE)
    page, times = simulator.page(), []
    try:
        app = next(app for app in page.until(lambda page: any(app["screen"] for app in page.state["apps"])).state["apps"] if app["screen"])["id"]
        for _ in range(10):
            page.ask("press", app=app, item="back")
            page.ask("press", app=app, item="scan")
            page.until(lambda page: (page.state["phone"]["sheet"] or {}).get("state") == "ready")
            # The sheet waits, and the reader looks for tags.
            time.sleep(0.3)
            rows = page.ask("trace_rows", **{"from": 0, "count": 1})["total"]
            start = time.perf_counter()
            page.ask("hold", tag="poster-with-a-link")
            page.until(lambda page: (page.state["phone"]["sheet"] or {}).get("state") not in (None, "ready"))
            seen = (time.perf_counter() - start) * 1e3
            air = 0
            for row in page.ask("trace_rows", **{"from": rows, "count": 200})["rows"]:
                if row["kind"] == "sheet":
                    break
                air += row["airtime_us"]
            times.append(seen - air / 1e3)
            page.until(lambda page: (page.state["phone"]["sheet"] or {}).get("state") not in ("ready", "scanning"))
            page.ask("leave")
            page.until(lambda page: page.state["phone"]["sheet"] is None)
    finally:
        page.close()
        simulator.remove()
    return statistics.median(times)


def idle(simulator, seconds=3):
    """The share of a processor that the server takes with a window open, when nothing happens."""
    page = simulator.page()
    time.sleep(1)
    before = simulator.processor_time()
    time.sleep(seconds)
    page.close()
    return (simulator.processor_time() - before) / seconds * 100


def main():
    simulator = Simulator()
    try:
        instant, excess = exchanges(simulator, int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
        figures = {"exchange_us": instant, "airtime_excess_us": excess, "arrival_ms": arrival(simulator), "idle_percent": idle(simulator)}
        on_sheet = sheet()
        if on_sheet is not None:
            figures["sheet_ms"] = on_sheet
    finally:
        simulator.remove()
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))
    sys.exit(1 if any(figures.get(name, 0) > limit for name, limit in LIMITS.items()) else 0)


if __name__ == "__main__":
    main()
