# SPDX-License-Identifier: Apache-2.0
"""The command: options, the run over the targets, and what is printed."""
import argparse
import datetime
import fcntl
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

from . import places, results
from .build import Build
from .buildplan import BuildFailed, BuildPlan
from .engine import Engine
from .package import Package

USAGE = """\
Plants small bugs in the sources of targets, one at a time, and reports which of them no test notices.

Many bugs are planted in one build and switched on one by one when the tests run. The sources and what `swift build` built
stay as they are: only the files with bugs are compiled again, to .build/mutate. A bug is tried with the suites that come to
its place, those of its own target first, up to the first that fails. What is known is kept in .build/mutate-results.jsonl:
a second run with the same seed goes on where the first one ended, and a survivor is tried again when the tests have changed.

A bug that changes nothing is left out with a comment on its line, or above it:
    // mutate: equivalent, because REASON
One where only some kinds of bugs change nothing names them:
    // mutate: equivalent order, because REASON
"""


def options(arguments):
    parser = argparse.ArgumentParser(prog="dev/mutate", description=USAGE, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", default=[], help="a target to plant bugs in; may be repeated")
    parser.add_argument("--all", action="store_true", help="all targets of the package")
    parser.add_argument("--only", metavar="FILE:LINE", help="every bug that can be planted on a line")
    parser.add_argument("--sample", type=int, default=40, metavar="N", help="how many bugs a target (40)")
    parser.add_argument("--total", type=int, metavar="N", help="how many bugs in all targets together, in place of --sample")
    parser.add_argument("--together", type=int, default=240, metavar="N", help="how many bugs in one build (240)")
    parser.add_argument("--own", action="store_true",
                        help="run the tests of the target with the bug alone, and not those of the targets that use it")
    parser.add_argument("--seed", type=int, default=int(datetime.date.today().strftime("%Y%m%d")), metavar="N",
                        help="which bugs are chosen (today's date)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs at one time (processors)")
    parser.add_argument("--budget", type=float, metavar="MINUTES", help="end after as many minutes, with what is known then")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT",
                        help="exit with 1 when fewer of all bugs were noticed")
    parser.add_argument("--json", metavar="FILE", help="write the report to a file too, as JSON")
    parser.add_argument("--text", metavar="FILE", help="write the report to a file too, as text")
    parser.add_argument("--list", action="store_true", help="print what would be planted, and end")
    parser.add_argument("--show", action="store_true", help="print what is known of the sample, and end")
    parser.add_argument("--again", action="store_true", help="forget what is known of the bugs that are planted")
    parser.add_argument("--finder", required=True, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if not chosen.only and not chosen.all and not chosen.target:
        parser.error("name a target with --target, or give --all or --only")
    return chosen


def say(text):
    """Prints progress to standard error: on a terminal, one line that is overwritten."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text[:120]}")
    else:
        sys.stderr.write(text + "\n")
    sys.stderr.flush()


class Session:
    def __init__(self, root, chosen):
        self.root, self.chosen = pathlib.Path(root), chosen
        self.package = Package(root)
        self.results = results.Results(self.root / ".build/mutate-results.jsonl")
        self.stop, self.lock = threading.Event(), threading.Lock()
        self.hashes, self.reports, self.judged, self.left_out, self.unsteady = {}, {}, 0, [], []
        self.target_of = {file: name for name in self.package.plantable() for file in self.package.sources(name)}
        for name in chosen.target:
            if name not in self.package.plantable():
                raise SystemExit(f"dev/mutate: no target {name}; there are {', '.join(self.package.plantable())}")

    def hashes_of(self, target):
        if target not in self.hashes:
            # Mutants that the target's own tests miss may be noticed by all tests.
            tests = self.package.test_hash(target, far=not self.chosen.own)
            self.hashes[target] = (self.package.source_hash(target), tests)
        return self.hashes[target]

    # Planting

    def samples(self):
        """Lists of targets, each with a draw of places and the number to plant."""
        if self.chosen.only:
            file, _, number = self.chosen.only.rpartition(":")
            file = os.path.relpath(os.path.abspath(file), self.root)
            if file not in self.target_of or not number.isdigit():
                raise SystemExit(f"dev/mutate: {self.chosen.only} is no line of a source")
            found, _ = places.find(self.chosen.finder, self.root, [file])
            some = [place for place in found[file] if place.line == int(number)]
            while some:
                together = []
                for place in some:
                    if not any(place.collides(other) for other in together):
                        together.append(place)
                some = [place for place in some if place not in together]
                yield [self.target_of[file]], iter(together), len(together)
            return
        targets = self.package.plantable() if self.chosen.all else sorted(set(self.chosen.target))
        if self.chosen.total:
            yield targets, self._across(targets), self.chosen.total
            return
        for target in targets:
            found, _ = places.find(self.chosen.finder, self.root, self.package.sources(target))
            yield [target], places.drawn(found, f"{self.chosen.seed}:{target}"), self.chosen.sample

    def _across(self, targets):
        """One place per target in turn, in an order from the seed. Only drawn files are parsed."""
        chance = random.Random(self.chosen.seed)
        for turn in itertools.count():
            files = []
            for target in chance.sample(targets, len(targets)):
                sources = self.package.sources(target)
                files.append(chance.choices(sources, [(self.root / file).stat().st_size ** 0.5 for file in sources])[0])
            wanted = files[:self.chosen.total + 5]
            found, _ = places.find(self.chosen.finder, self.root, wanted)
            for file in wanted:
                yield from itertools.islice(places.drawn({file: found[file]}, f"{self.chosen.seed}:{turn}:{file}"), 1)
            if turn > 20:
                return

    # Running

    def run(self, plan):
        together, bugs = [], 0
        for sample in self.samples():
            # Not all bugs of a line can be planted together.
            if together and (bugs + sample[2] > self.chosen.together or self.chosen.only):
                self._samples(plan, together)
                together, bugs = [], 0
            together.append(sample)
            bugs += sample[2]
        if together:
            self._samples(plan, together)

    def _samples(self, plan, samples):
        if self.stop.is_set():
            return
        draws = [self._unknown(*sample) for sample in samples]
        count = sum(count for _, count in draws)
        if not count:
            return
        names = sorted({target for targets, _, _ in samples for target in targets})
        say(f"{', '.join(names) if len(names) < 6 else f'{len(names)} targets'}: building {count} bugs")
        build = Build(plan, {file: self.package.targets[target]["c99name"] for file, target in self.target_of.items()},
                      self.root / ".build/mutate", self.chosen.jobs)
        begin = time.monotonic()
        planted = build.plant(draws, self.stop.is_set)
        for place, message in build.refused.items():
            self._record(place, "not built", message.strip().splitlines()[-1] if message.strip() else "", 0)
        if self.stop.is_set() or not planted:
            return
        say(f"built {len(planted)} bugs in {time.monotonic() - begin:.0f} s, {len(build.refused)} refused by the compiler")
        engine = Engine(build, self.package, self.chosen.jobs, self.stop, say)
        engine.judge(planted, lambda place: self.target_of[place.file],
                     lambda number, *result: self._record(planted[number], *result), far=not self.chosen.own)
        self.left_out += engine.left_out
        self.unsteady += engine.unsteady

    def _unknown(self, targets, draw, count):
        """The places of a sample to try, without end, and their number.

        What is known is reported; of the places that collide with one of the sample none is tried.
        """
        known = {} if self.chosen.again else {
            target: self.results.known(target, *self.hashes_of(target)) for target in targets}
        # A place that the compiler refused still blocks others, so that a second run finds the same sample.
        kept, fresh, refused = [], [], []
        for target in targets:
            self.reports.setdefault(target, [])
        while len(kept) + len(fresh) < count:
            place = next(draw, None)
            if place is None:
                break
            line = known.get(self.target_of[place.file], {}).get(place.key)
            if any(place.collides(other) for other in kept + fresh + refused):
                continue
            elif line and line["status"] == "not built":
                self.reports[line["target"]].append(line)
                refused.append(place)
            elif line:
                self.reports[line["target"]].append(line)
                kept.append(place)
            else:
                fresh.append(place)

        def rest():
            for place in draw:
                if not any(place.collides(other) for other in kept + refused):
                    yield place

        return itertools.chain(fresh, rest()), len(fresh)

    def _record(self, place, status, by, seconds):
        target = self.target_of[place.file]
        line = results.line(target, self.chosen.seed, *self.hashes_of(target), place, status, by, seconds)
        with self.lock:
            self.reports[target].append(line)
            self.results.add(line)
            if status != "not built":
                self.judged += 1
                end = f"{status}{' by ' + by if by else ''} ({seconds:.1f} s)"
                say(f"{self.judged}: {place.file}:{place.line} {place.kind}: {end}")

    # Output

    def list(self):
        for _, draw, count in self.samples():
            chosen = []
            for place in draw:
                if not any(place.collides(other) for other in chosen):
                    chosen.append(place)
                if len(chosen) >= count:
                    break
            for place in sorted(chosen, key=lambda place: place.key):
                print(place.diff())

    def show(self):
        for sample in self.samples():
            _, missing = self._unknown(*sample)
            if missing:
                say(f"{missing} of {', '.join(sample[0])} not tried yet")

    def finish(self, seconds):
        """Prints the reports and returns the score of all of them together."""
        reported = {target: lines for target, lines in self.reports.items() if lines}
        written = "\n\n".join(results.text(target, lines) for target, lines in sorted(reported.items()))
        every = results.summary("all", list(itertools.chain.from_iterable(reported.values())))
        end = [f"Seed {self.chosen.seed}: {every['killed'] + every['timed_out']} of {every['planted']} bugs noticed"
               + (f", {every['score']} %" if every["planted"] else "")
               + (f"; {self.judged} tried in {seconds:.0f} s, {self.judged * 3600 / seconds:.0f} an hour"
                  if self.judged else "")]
        end += [f"Left out, since it fails with no bug: {test}" for test in self.left_out]
        end += [f"Failed once in three runs, and so not counted: {test}" for test in sorted(set(self.unsteady))]
        if self.stop.is_set():
            end.append("Ended before all were tried; the same command goes on.")
        written += "\n\n" + "\n".join(end)
        print(written.strip())
        if self.chosen.text:
            pathlib.Path(self.chosen.text).write_text(written.strip() + "\n")
        if self.chosen.json:
            data = {"seed": self.chosen.seed, "all": every, "seconds": round(seconds, 1), "tried": self.judged,
                    "complete": not self.stop.is_set(), "left_out": self.left_out,
                    "unsteady": sorted(set(self.unsteady)),
                    "targets": [results.summary(target, lines) | {"mutants": lines}
                                for target, lines in sorted(reported.items())]}
            pathlib.Path(self.chosen.json).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
        return every["score"]


def main(root, arguments):
    chosen = options(arguments)
    begin = time.monotonic()
    try:
        session = Session(root, chosen)
        if chosen.list:
            session.list()
            return 0
        if chosen.show:
            session.show()
        else:
            say("building what is tested")
            built = subprocess.run(["swift", "build", "--build-tests"], cwd=root, capture_output=True, text=True)
            if built.returncode:
                sys.stderr.write(built.stdout[-4000:] + built.stderr[-2000:])
                return 2
            interrupted = []
            signal.signal(signal.SIGINT, lambda *_: (interrupted.append(1), session.stop.set()))
            signal.signal(signal.SIGTERM, lambda *_: (interrupted.append(1), session.stop.set()))
            # One run at a time, because runs share a folder.
            lock = open(session.root / ".build/mutate.lock", "w")
            fcntl.flock(lock, fcntl.LOCK_EX)
            if chosen.budget:
                timer = threading.Timer(max(0, chosen.budget * 60 - (time.monotonic() - begin)), session.stop.set)
                timer.daemon = True
                timer.start()
            session.run(BuildPlan(root))
            if interrupted:
                session.finish(time.monotonic() - begin)
                return 130
        score = session.finish(time.monotonic() - begin)
        return 1 if score is not None and score < chosen.at_least else 0
    except (places.ReasonMissing, BuildFailed) as error:
        sys.stderr.write(f"\ndev/mutate: {error}\n")
        return 2
