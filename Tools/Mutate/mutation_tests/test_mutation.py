# SPDX-License-Identifier: Apache-2.0
"""Tests of the parts of dev/mutate that need no build: python3 -m unittest discover -t Tools/Mutate -s Tools/Mutate."""
import dataclasses
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

from mutation import places, planted, results, testing
from mutation.build import Build
from mutation.cli import Session
from mutation.engine import Engine
from mutation.package import Package


def place(file="a.swift", kind="literal", start=0, end=1, replacement="(\x01)", statement=None, declaration=(0, 1000), weight=1.0):
    return places.Place(file=file, kind=kind, line=1, start=start, end=end, replacement=replacement, before="", after="",
                        statementStart=start if statement is None else statement, declarationStart=declaration[0],
                        declarationEnd=declaration[1], weight=weight)


class PlantedFileTests(unittest.TestCase):
    source = "let a = 1\nlet b = 22\nfunc é() { c(3) }\n".encode()

    def file(self):
        return planted.PlantedFile(self.source, [
            (9, place(start=18, end=20, replacement="(\n\x01 ? 2 : 22)", declaration=(9, 20))),
            (4, place(start=8, end=9, declaration=(0, 9))),
            (5, place(start=self.source.index(b"c(3)"), end=self.source.index(b"c(3)") + 4, kind="exit", declaration=(20, 60))),
            (6, place(start=self.source.index(b"c(3)") + 5, end=self.source.index(b"c(3)") + 5, declaration=(20, 60))),
        ])

    def test_each_place_has_its_number(self):
        text = self.file().text.decode()
        self.assertTrue(text.startswith("let a = (4)\nlet b = (\n9 ? 2 : 22)\nfunc é() { (5) (6)}\n"), text)

    def test_an_error_inside_a_place_is_its_own(self):
        self.assertEqual(self.file().blamed(1, 10), {4})
        self.assertEqual(self.file().blamed(3, 2), {9})

    def test_an_error_elsewhere_is_of_the_declaration_and_of_what_is_left_out_there(self):
        self.assertEqual(self.file().blamed(2, 5), {9})
        self.assertEqual(self.file().blamed(4, 2), {5})

    def test_an_error_far_from_all_is_of_all(self):
        some = planted.PlantedFile(self.source, [(1, place(start=8, declaration=(0, 9))), (2, place(start=18, declaration=(9, 20)))])
        self.assertEqual(some.blamed(4, 1), {1, 2})


class PlantedBuildTests(unittest.TestCase):
    """With a compiler that copies an object for what a planted file holds."""

    def test_bugs_that_change_what_other_files_link_with_are_dropped(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "a.swift").write_text("phone {\n}\n2\n")
            for name, text in (("phone", "int phone = 1;"), ("other", "int other = 1;")):
                (folder / f"{name}.c").write_text(text)
                subprocess.run(["clang", "-c", "-o", str(folder / f"{name}.o"), str(folder / f"{name}.c")], check=True)

            class Plan:
                root = folder

                def compile_command(self, module, source, copy, output):
                    name = "phone" if "phone {\n}" in copy.read_text() else "other"
                    return ["cp", f"{folder}/{name}.o", str(output)]

                def objects(self, module):
                    return {str(folder / "a.swift"): str(folder / "phone.o")}

            left_out = place(kind="statement", start=7, end=8, replacement=" if  {}\n")
            kept = place(start=10, end=11)
            build = Build(Plan(), {"a.swift": "A"}, folder / "build", 1)
            build.planted = {1: left_out, 2: kept}
            self.assertEqual(build._compile({"a.swift"}, lambda: False),
                             {"a.swift": str(folder / "build" / "objects" / "a.swift.o")})
            self.assertEqual(build.planted, {2: kept})
            self.assertEqual(list(build.refused), [left_out])


class SampleTests(unittest.TestCase):
    def test_places_collide_where_they_overlap_or_share_a_statement(self):
        self.assertTrue(place(start=0, end=5).collides(place(start=3, end=9)))
        self.assertTrue(place(start=0, end=5, statement=0).collides(place(start=6, end=9, statement=0)))
        self.assertTrue(place(start=4, end=4).collides(place(start=4, end=9, statement=1)))
        self.assertFalse(place(start=0, end=5).collides(place(start=5, end=9)))
        self.assertFalse(place(start=0, end=5).collides(place(file="b.swift", start=0, end=5)))

    def test_a_seed_draws_the_same_places_in_the_same_order_and_each_once(self):
        found = {file: [place(file=file, start=start) for start in range(20)] for file in "abc"}
        one, same = list(places.drawn(found, "1:T")), list(places.drawn(found, "1:T"))
        self.assertEqual(one, same)
        self.assertEqual(len(set(one)), 60)
        self.assertNotEqual(one, list(places.drawn(found, "2:T")))

    def test_most_of_a_sample_stays_when_a_place_goes(self):
        found = {file: [place(file=file, start=start, replacement=f"{start}\x01") for start in range(50)] for file in "abcdef"}
        found = {file: [dataclasses.replace(one, before=str(one.start)) for one in some] for file, some in found.items()}
        before = set(itertools.islice(places.drawn(found, 1), 40))
        found["c"].remove(next(one for one in before if one.file == "c"))
        after = set(itertools.islice(places.drawn(found, 1), 40))
        self.assertGreaterEqual(len(before & after), 38)

    def test_a_sample_is_spread_over_files_and_kinds(self):
        found = {"long": [place(file="long", start=start) for start in range(1000)],
                 "short": [place(file="short", start=1), place(file="short", start=2, kind="exit")],
                 "other": [place(file="other", start=3, kind="bits"), place(file="other", start=4)]}
        some = list(itertools.islice(places.drawn(found, 1), 20))
        self.assertEqual({one.file for one in some}, set(found))
        self.assertEqual({one.kind for one in some}, {"literal", "exit", "bits"})


class ResultTests(unittest.TestCase):
    def test_a_kill_holds_while_the_source_is_the_same_and_a_survivor_while_the_tests_are(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.jsonl"
            known = results.Results(path)
            for start, status in enumerate(results.STATUSES):
                known.add(results.line("T", 1, "source", "tests", place(start=start), status, "", 0))
            with open(path, "a") as file:
                file.write('{"target": "T", "se')
            again = results.Results(path)
            self.assertEqual(len(again.known("T", "source", "tests")), 5)
            self.assertEqual({line["status"] for line in again.known("T", "source", "others").values()},
                             {"killed", "timed out", "not built"})
            self.assertEqual(again.known("T", "changed", "tests"), {})
            self.assertEqual(again.known("U", "source", "tests"), {})

    def test_a_score_leaves_out_what_does_not_compile_and_counts_what_no_test_reaches(self):
        lines = [{"status": status} for status in ("killed", "timed out", "survived", "not reached", "not built")]
        self.assertEqual(results.summary("T", lines)["score"], 50.0)
        self.assertIsNone(results.summary("T", lines[4:])["score"])


class EngineTests(unittest.TestCase):
    """What runs come to, said in advance."""

    def engine(self, *statuses):
        engine = Engine(None, None, 1, threading.Event(), lambda _: None)
        waiting = list(statuses)
        engine._once = lambda *_: testing.Outcome(waiting.pop(0), 0.1, ["test"])
        return engine

    def test_a_failure_counts_when_it_comes_again(self):
        self.assertEqual(self.engine("failed", "failed")._run(None, [1], []).status, "failed")
        self.assertEqual(self.engine("failed", "passed", "failed")._run(None, [1], []).status, "failed")

    def test_a_failure_that_does_not_come_again_is_named_and_does_not_count(self):
        engine = self.engine("failed", "passed", "passed")
        self.assertEqual(engine._run(None, [1], []).status, "passed")
        self.assertEqual(engine.unsteady, ["test"])

    def test_a_crash_and_a_limit_count_at_once(self):
        self.assertEqual(self.engine("crashed")._run(None, [1], []).status, "crashed")
        self.assertEqual(self.engine("late")._run(None, [1], []).status, "late")

    def test_what_survives_is_recorded_at_once_when_nothing_else_is_tried(self):
        engine = self.engine("passed", "failed", "failed")
        engine.build = unittest.mock.Mock()
        engine._controlled = lambda *_: [testing.Group("T.S", "", reached=frozenset({1, 2}))]
        found = []
        testing_groups, testing.groups = testing.groups, lambda *_: []
        try:
            left = engine._nearby(None, {1: ["T"], 2: ["T"], 3: ["T"]}, lambda *result: found.append(result[:2]), set(), True)
        finally:
            testing.groups = testing_groups
        self.assertEqual(sorted(found), [(1, "survived"), (2, "killed"), (3, "not reached")])
        self.assertEqual(left, {})

    def test_of_bugs_that_are_on_together_those_that_fail_alone_are_found(self):
        engine, noticed = Engine(None, None, 2, threading.Event(), lambda _: None), {3, 6}
        group = testing.Group("T.S", "", reached=frozenset(range(9)))
        engine._controlled = lambda *_: [group]
        engine._once = lambda _, numbers, groups: testing.Outcome(
            "failed" if noticed & set(numbers) else "passed", 0.1, ["test"])
        found = []
        testing_groups, testing.groups = testing.groups, lambda *_: []
        engine.build = unittest.mock.Mock()
        try:
            left = engine._farther(None, {number: ["T"] for number in range(8)}, lambda *result: found.append(result[:2]),
                                   dict.fromkeys(range(8), False))
        finally:
            testing.groups = testing_groups
        self.assertEqual(sorted(found), [(3, "killed"), (6, "killed")])
        self.assertEqual(left, dict.fromkeys({0, 1, 2, 4, 5, 7}, True))


class SessionTests(unittest.TestCase):
    def test_a_second_run_finds_the_sample_of_the_first_with_what_the_compiler_refused(self):
        session = Session.__new__(Session)
        session.chosen, session.target_of = unittest.mock.Mock(again=False, seed=1), {"a.swift": "T"}
        session.hashes_of = lambda target: ("source", "tests")
        # Each third is refused, and neighbours collide.
        drawn = [place(start=start * 2, end=start * 2 + 3, replacement=f"{start}\x01") for start in range(40)]
        chosen = []
        with tempfile.TemporaryDirectory() as folder:
            session.results = results.Results(pathlib.Path(folder) / "results.jsonl")
            for _ in range(2):
                session.reports = {}
                draw, count = session._unknown(["T"], iter(drawn), 10)
                tried, planted_now = [], []
                for one in draw:
                    if len(planted_now) == count:
                        break
                    if any(one.collides(other) for other in tried):
                        continue
                    tried.append(one)
                    status = "not built" if one.start % 3 == 0 else "survived"
                    if status == "survived":
                        planted_now.append(one)
                    session.results.add(results.line("T", 1, "source", "tests", one, status, "", 0))
                    session.reports["T"].append(session.results.lines[-1])
                chosen.append([line["start"] for line in session.reports["T"] if line["status"] == "survived"])
            self.assertEqual(len(chosen[0]), 10)
            self.assertEqual(chosen[0], chosen[1])
            self.assertEqual(count, 0)


class PackageTests(unittest.TestCase):
    def package(self):
        package = Package.__new__(Package)
        package.targets = {
            "A": {"type": "library"}, "B": {"type": "library", "target_dependencies": ["A"]},
            "ATests": {"type": "test", "target_dependencies": ["A"]},
            "ASwift5Tests": {"type": "test", "target_dependencies": ["A"]},
            "ABTests": {"type": "test", "target_dependencies": ["B"]},
            "OtherTests": {"type": "test", "target_dependencies": ["B"]},
        }
        return package

    def test_the_tests_of_a_target_are_those_named_after_it_or_those_that_use_it(self):
        self.assertEqual(self.package().own_tests("A"), ["ASwift5Tests", "ATests"])
        self.assertEqual(self.package().own_tests("B"), ["ABTests", "OtherTests"])

    def test_other_tests_depend_on_it_in_whatever_way(self):
        self.assertEqual(self.package().other_tests("A"), ["ABTests", "OtherTests"])
        self.assertEqual(self.package().other_tests("B"), [])


class RunnerTests(unittest.TestCase):
    """Programs that write as the testing library does."""

    def run_program(self, script, stop=None, **options):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text(f"#!/bin/bash\n{script}\n")
            program.chmod(0o755)
            runs = testing.Places(1)
            try:
                return testing.Runner(program, runs, stop or threading.Event(), folder).run(["x"], **options)
            finally:
                runs.remove()

    def test_a_run_ends_at_the_first_failure_with_all_that_it_started(self):
        outcome = self.run_program('setsid sleep 77.125 & echo \'✘ Test "A name" recorded an issue at A.swift:1:2\'; sleep 77.125')
        self.assertEqual((outcome.status, outcome.failures), ("failed", ['"A name"']))
        self.assertLess(outcome.seconds, 20)
        left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"77.125" in self.read(path)]
        self.assertEqual(left, [])

    @staticmethod
    def read(path):
        try:
            return path.read_bytes()
        except OSError:
            return b""

    def test_to_the_end_all_failures_are_named_once(self):
        outcome = self.run_program("echo '✘ Test a() recorded an issue'; echo '✘ Test a() failed'; echo '✘ Test \"b\" failed'; exit 1",
                                   to_the_end=True)
        self.assertEqual((outcome.status, outcome.failures), ("failed", ["a()", '"b"']))

    def test_a_crash_names_the_signal_and_the_test_before_it(self):
        outcome = self.run_program("echo '◇ Test \"last\" started.'; kill -ILL $$")
        self.assertEqual((outcome.status, outcome.failures), ("crashed", ['SIGILL, after the start of "last"']))

    def test_a_limit_ends_a_run(self):
        self.assertEqual(self.run_program("sleep 60", limit=0.5).status, "late")

    def test_a_stop_ends_a_run(self):
        stop = threading.Event()
        threading.Timer(0.3, stop.set).start()
        self.assertEqual(self.run_program("sleep 60", stop=stop).status, "stopped")

    def test_mutants_and_folders_are_in_the_environment(self):
        outcome = self.run_program('[ "$MUTATE_ON" = 3,8 ] && [ -d "$TMPDIR" ] && [ "$1 $2" = "--testing-library swift-testing" ]',
                                   numbers=[3, 8])
        self.assertEqual(outcome.status, "passed")

    def test_what_a_run_leaves_behind_does_not_keep_the_next_one_from_its_folders(self):
        runs = testing.Places(1)
        self.addCleanup(runs.remove)
        with unittest.mock.patch("shutil.rmtree"):
            with runs.one() as first:
                pass
        with runs.one() as second:
            self.assertNotEqual(first["TMPDIR"], second["TMPDIR"])
            self.assertEqual([], list(pathlib.Path(second["TMPDIR"]).iterdir()))
        self.assertFalse(pathlib.Path(second["TMPDIR"]).exists())

    def test_a_name_is_matched_as_it_is(self):
        for name, identifier in (('"Is it 5? (no)"', "T.S/`Is it 5? (no)`()"), ("a()", "T.S/a()/A.swift:1:2")):
            self.assertTrue(re.search(testing.name_pattern(name), identifier), name)
        self.assertFalse(re.search(testing.name_pattern("a()"), "T.S/b()"))


if __name__ == "__main__":
    sys.exit(unittest.main())
