# SPDX-License-Identifier: Apache-2.0
"""Measures a fleet. Prints the results as lines of JSON."""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from support.database import Database
from support.network import BROKER, Link, LinkUnavailable
from support.place import Agent, Broker, Consumer, spooled
from support.programs import FLEET, Program, built, wait_for

HERE = pathlib.Path(__file__).resolve().parent
TICK = os.sysconf("SC_CLK_TCK")


class Cleanup:
    """Takes the place of a test case for the support modules: at the end, undoes all steps in reverse order."""

    def __init__(self):
        self._steps = []
        self._outcome = self

    def addCleanup(self, step, *arguments, **more):  # noqa: N802 - the name of unittest
        if getattr(step, "__name__", "") != "_show":
            self._steps.append((step, arguments, more))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for step, arguments, more in reversed(self._steps):
            step(*arguments, **more)


def place(case, memory):
    """Creates a folder. A folder in memory simulates the disks of many machines."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ofl-", dir="/dev/shm" if memory and os.access("/dev/shm", os.W_OK) else "/tmp"))
    case.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder


def usage(pid):
    """Returns the CPU seconds and the resident megabytes of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    memory = next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return (int(fields[11]) + int(fields[12])) / TICK, int(memory.split()[1]) / 1024


def report(name, **figures):
    print(json.dumps({"figure": name, **figures}), flush=True)


def costs(result, **processes):
    """Returns the microseconds of CPU time per event, by process."""
    processes["subscriber"] = result["cpu"]
    return {name: round(seconds * 1e6 / max(result["received"], 1), 1) for name, seconds in processes.items()}


def bare():
    program = pathlib.Path(tempfile.gettempdir()) / f"ofl-bare-{os.getuid()}"
    subprocess.run(["cc", "-O2", "-o", program, HERE / "bare.c", "-lmosquitto"], check=True)
    return program


class Subscriber(Program):
    def __init__(self, case, folder, program, port, sample, name):
        super().__init__(case, [program, "subscribe", str(port), "15", sample], folder / f"{name}.log")
        self.wait_for_line("connected")

    def result(self):
        self.ended(120)
        return self.lines()[-1]


class Nodes:
    """Processes with many nodes each, which start together."""

    def __init__(self, case, folder, url, *, nodes, processes, rate, seconds, first=0, patience=120):
        self.count = nodes
        self.processes = []
        each = nodes // processes
        for index in range(processes):
            state = folder / "spools"
            state.mkdir(exist_ok=True)
            self.processes.append(Program(case, [
                built("fleet-load"), "--broker", url, "--state", state, "--nodes", str(each), "--first", str(first + index * each),
                "--seconds", str(seconds), "--patience", str(patience), "--waits",
                *(["--rate", str(rate // processes)] if rate else ["--unbounded"]),
            ], folder / f"nodes-{rate}-{index}.log"))
        begin = time.monotonic()
        for process in self.processes:
            process.wait_for_line("connected", patience)
        self.connecting = time.monotonic() - begin

    def go(self):
        for process in self.processes:
            process.begin()

    def usage(self):
        values = [usage(process.process.pid) for process in self.processes]
        return sum(cpu for cpu, _ in values), sum(memory for _, memory in values)


def figures(options):
    program = bare()
    with Cleanup() as case:
        folder = place(case, True)
        broker = Broker(case, folder, extra=["connection_messages false"])
        sample = folder / "sample.json"
        # The payload: a real event of a node.
        subscriber = Subscriber(case, folder, program, broker.port, sample, "sample")
        nodes = Nodes(case, folder, broker.url, nodes=1, processes=1, rate=2, seconds=2, first=50000)
        nodes.go()
        subscriber.result()
        shutil.rmtree(folder / "spools")

        def run_bare(rate, connections):
            subscriber = Subscriber(case, folder, program, broker.port, "/dev/null", f"bare-{rate}-{connections}")
            # Each connection of the library needs three open files, so one process may not be able to open all connections.
            each = connections // options.processes
            publishers = [Program(case, [
                program, "publish", str(broker.port), str(index * each), str(each), str(rate / options.processes), str(options.seconds), "20", sample,
            ], folder / f"publisher-{rate}-{connections}-{index}.log") for index in range(options.processes)]
            for publisher in publishers:
                publisher.wait_for_line("connected", 200)
            before = usage(broker.program.process.pid)
            for publisher in publishers:
                publisher.begin()
            for publisher in publishers:
                publisher.ended(options.seconds + 200)
            result, ends = subscriber.result(), [publisher.lines()[-1] for publisher in publishers]
            sent = {name: round(sum(end[name] for end in ends), 2) for name in ("sent", "cpu")}
            after = usage(broker.program.process.pid)
            report("bare publisher in C", connections=connections, offered=rate or "unlimited", sent=sent["sent"], received=result["received"],
                   events_per_second=result["rate"], payload_bytes=result["bytes"], p50_ms=result["p50_ms"], p99_ms=result["p99_ms"],
                   cpu_us_per_event=costs(result, publishers=sent["cpu"], broker=after[0] - before[0]), broker_mb=round(after[1]))
            return result["rate"]

        limit = run_bare(0, options.nodes)
        best = 0
        for rate in options.rates:
            subscriber = Subscriber(case, folder, program, broker.port, "/dev/null", f"nodes-{rate}")
            nodes = Nodes(case, folder, broker.url, nodes=options.nodes, processes=options.processes, rate=rate, seconds=options.seconds)
            # The messages that nodes publish after they connect have been sent by then.
            time.sleep(5)
            before = usage(broker.program.process.pid)
            waiting = nodes.usage()
            nodes.go()
            time.sleep(options.seconds)
            working = nodes.usage()
            for process in nodes.processes:
                process.ended(options.seconds + 200)
            result = subscriber.result()
            after = usage(broker.program.process.pid)
            total = sum(spooled([folder / "spools"]).values())
            waits = sum(process.lines()[-1].get("waiting", 0) for process in nodes.processes)
            report("nodes", nodes=options.nodes, processes=options.processes, offered=rate or "unlimited", received=result["received"], in_spools=total,
                   left_in_spools=waits, events_per_second=result["rate"], of_bare=round(result["rate"] / limit, 2), p50_ms=result["p50_ms"],
                   p99_ms=result["p99_ms"], connecting_seconds=round(nodes.connecting, 1), kb_per_node=round(working[1] * 1024 / options.nodes),
                   cpu_us_per_event=costs(result, agents=working[0] - waiting[0], broker=after[0] - before[0]), broker_mb=round(after[1]))
            best = max(best, result["rate"])
            shutil.rmtree(folder / "spools")
        report("result", bare=round(limit), nodes=round(best), ratio=round(best / limit, 2))


def idle(options):
    with Cleanup() as case:
        folder = place(case, False)
        broker = Broker(case, folder)
        agent = Agent(case, folder, broker.url)
        agent.wait_for_line('"connected"')
        time.sleep(3)
        before = usage(agent.process.pid)
        time.sleep(options.seconds)
        after = usage(agent.process.pid)
        report("an idle agent", seconds=options.seconds, cpu_percent=round((after[0] - before[0]) / options.seconds * 100, 3),
               memory_mb=round(after[1], 1))


def soak(options):
    chance = random.Random(21)
    with Cleanup() as case:
        folder = place(case, options.memory)
        try:
            link = Link(case)
        except LinkUnavailable as error:
            print(f"{error} The link is not cut in this run.", file=sys.stderr)
            link = None
        address, near, far = (BROKER, link.near, link.far) if link else ("127.0.0.1", None, None)
        broker = Broker(case, folder, address=address, namespace=far, extra=["connection_messages false"])
        database = Database(case)
        consumer = Consumer(case, folder, broker.url, database, patience=10, namespace=far)
        spools = folder / "spools"
        spools.mkdir()
        # Twenty processes, so that killing one kills 5 % of the nodes.
        count, each = 20, options.nodes // 20
        processes = []
        for index in range(count):
            process = Program(case, [
                built("fleet-load"), "--broker", broker.url, "--state", spools, "--nodes", str(each), "--first", str(index * each),
                "--rate", str(options.rate // count), "--seconds", "86400", "--patience", "300",
            ], folder / f"nodes-{index}.log", namespace=near)
            processes.append(process)
        for process in processes:
            process.wait_for_line("connected", 300)
        begin, kills, deaths, cuts, memory = time.monotonic(), 0, 0, 0, 0
        total = 0
        while total < options.events and time.monotonic() - begin < options.limit:
            time.sleep(options.every / 2)
            chance.choice(processes).kill()
            deaths += 1
            # No process is opening its spool now, so reading the spools disturbs none.
            total = sum(spooled([spools]).values())
            for process in processes:
                if process.process.poll() is not None:
                    process.start()
            time.sleep(options.every / 4)
            if link:
                link.cut()
                cuts += 1
                time.sleep(chance.uniform(0.5, 3))
                link.mend()
            time.sleep(options.every / 4)
            broker.kill()
            kills += 1
            time.sleep(chance.uniform(0.2, 2))
            broker.start()
            memory = max(memory, usage(consumer.process.pid)[1])
            stored = database.value("SELECT count(*) FROM fleet.event")
            print(f"{time.monotonic() - begin:.0f} s: {total} events in spools, {stored} in the table", file=sys.stderr, flush=True)
        worked = time.monotonic() - begin
        # Stop the changes of tags. The nodes keep running, and answer requests for events that the broker has lost.
        for process in processes:
            process.kill()
        numbers = spooled([spools])
        total = sum(numbers.values())
        for process in processes:
            process.arguments[process.arguments.index("--rate") + 1] = "0"
            process.start()

        def everything():
            return database.value("SELECT count(*) FROM fleet.event") >= total
        try:
            wait_for("the last event in the table", everything, options.limit, 1)
        except AssertionError as error:
            print(error, file=sys.stderr)
        rows = database.run("""
            SELECT node, reader, stream, count(*), count(DISTINCT sequence), min(sequence), max(sequence)
            FROM fleet.event GROUP BY node, reader, stream
        """)
        stored = {(node, reader, stream): (count, distinct, low, high) for node, reader, stream, count, distinct, low, high in rows}
        lost = sum(count - stored.get(key, (0, 0, 0, 0))[1] for key, count in numbers.items())
        twice = sum(count - distinct for count, distinct, _, _ in stored.values())
        report("soak", nodes=options.nodes, events=total, seconds=round(worked), broker_killed=kills, nodes_killed=deaths * each, link_cut=cuts,
               stored=sum(count for count, *_ in stored.values()), lost=lost, stored_twice=twice,
               late=database.value("SELECT count(*) FROM fleet.event WHERE late"),
               bytes_per_row=round(database.value("SELECT pg_total_relation_size('fleet.event')") / max(total, 1)),
               seconds_until_everything_was_stored=round(time.monotonic() - begin - worked), consumer_mb=round(memory))
        if lost or twice:
            sys.exit(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["figures", "idle", "soak"])
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rates", type=lambda text: [int(part) for part in text.split(",")], default=[1000, 4000, 0],
                        help="arrivals and departures of tags per second; 0 for no limit")
    parser.add_argument("--rate", type=int, default=1500, help="for the soak: arrivals and departures of tags per second")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--every", type=float, default=20)
    parser.add_argument("--limit", type=float, default=2400)
    parser.add_argument("--disk", dest="memory", action="store_false", help="spools on the disk, not in memory")
    options = parser.parse_args()
    {"figures": figures, "idle": idle, "soak": soak}[options.what](options)


if __name__ == "__main__":
    main()
