# SPDX-License-Identifier: Apache-2.0
"""Runs the tests against each planted bug.

The tests of its own target come first: each suite that comes to the place of the bug, the quickest first, up to the first
failure. What these don't notice is mostly not noticed by others either, so that the tests of the targets above run with all
such bugs on at once, and only where that fails with half of them, and so on: one that is noticed only by itself is found by
none of these runs where another hides it, which is rare.
"""
import concurrent.futures
import itertools
import tempfile
import threading

from . import testing

# With fewer mutants than this the tests of a target run as one, since to know what each suite reaches costs more.
WORTH_SUITES = 4
# Suites run together up to as many seconds.
TOGETHER = 4.0
# Seconds on top of three times what the tests take.
GRACE = 15


class Engine:
    def __init__(self, build, package, jobs, stop, say):
        self.build, self.package, self.jobs, self.stop, self.say = build, package, jobs, stop, say
        self.left_out = []
        # Tests that failed once in three runs.
        self.unsteady = []
        self._known = {}

    def judge(self, planted, target_of, record, far=True):
        """Judges the planted places by number.

        `record` takes a number, a status, by what, and the seconds, as they come. Without `far` only the tests of the target
        of a place itself are run.
        """
        places = testing.Places(self.jobs)
        try:
            runner = testing.Runner(self.build.tests, places, self.stop, self.package.root)
            own = {number: self.package.own_tests(target_of(place)) for number, place in planted.items()}
            # Tests of programs take long and come to most of the package: of these each suite is looked at.
            shared = {test for number, place in planted.items() for test in own[number]
                      if not test.startswith(target_of(place))}
            left = self._nearby(runner, own, record, shared, final=not far)
            if far and left:
                others = {number: self.package.other_tests(target_of(planted[number])) for number in left}
                left = self._farther(runner, others, record, left)
            if not self.stop.is_set():
                for number, reached in left.items():
                    record(number, "survived" if reached else "not reached", "", 0)
        finally:
            places.remove()

    def _nearby(self, runner, tests, record, shared, final):
        """Tries each mutant by itself. Returns those that no test noticed, each with whether a test came to its place.

        When it is `final`, these are recorded as they come too, so that a run that is ended early shows them.
        """
        counts = {}
        for test in itertools.chain.from_iterable(tests.values()):
            counts[test] = counts.get(test, 0) + 1
        by_suite = {test for test, count in counts.items() if count >= WORTH_SUITES or test in shared}
        usable = self._controlled(runner, testing.groups(self.build.tests, by_suite, True)
                                  + testing.groups(self.build.tests, counts.keys() - by_suite, False))

        def one(number):
            mine = [group for group in usable if number in group.reached and group.target in tests[number]]
            return number, bool(mine), self._alone(runner, number, mine)

        left = {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(one, number) for number in tests]):
                number, reached, outcome = done.result()
                if outcome is None and final:
                    record(number, "survived" if reached else "not reached", "", 0)
                elif outcome is None:
                    left[number] = reached
                elif outcome.status != "stopped":
                    self._record(record, number, outcome)
        return left

    def _farther(self, runner, tests, record, reached_before):
        """Tries mutants together. Returns those that no test noticed, as `_nearby` does."""
        wanted = set(itertools.chain.from_iterable(tests.values()))
        groups = testing.groups(self.build.tests, wanted, len(tests) >= WORTH_SUITES)
        usable = sorted(self._controlled(runner, groups), key=lambda group: group.seconds)
        left, lock = dict(reached_before), threading.Lock()

        def one(group):
            with lock:
                some = [number for number in left if number in group.reached and group.target in tests[number]]
                left.update((number, True) for number in some)
            batches = [some] if some else []
            while batches and not self.stop.is_set():
                # One that was noticed by another group meanwhile need not be tried.
                batch = [number for number in batches.pop(0) if number in left]
                outcome = self._run(runner, batch, [group]) if batch else None
                if outcome is None or outcome.status in ("passed", "stopped"):
                    continue
                if len(batch) > 1:
                    batches += [batch[:len(batch) // 2], batch[len(batch) // 2:]]
                    continue
                with lock:
                    if left.pop(batch[0], None) is not None:
                        self._record(record, batch[0], outcome)
            return group.name, len(some)

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for index, (name, count) in enumerate(pool.map(one, usable), 1):
                if count:
                    self.say(f"tests with all bugs that are left: {index} of {len(usable)}, {name} with {count}")
        return left

    @staticmethod
    def _record(record, number, outcome):
        status = "timed out" if outcome.status == "late" else "killed"
        record(number, status, "; ".join(outcome.failures), outcome.seconds)

    def _controlled(self, runner, groups):
        """Runs groups with no bug on, where that was not done yet; returns those that pass."""
        fresh = [group for group in groups if group.name not in self._known]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = [pool.submit(self._control, runner, group) for group in fresh]
            for index, done in enumerate(concurrent.futures.as_completed(futures), 1):
                group = done.result()
                self.say(f"tests without a bug: {index} of {len(fresh)}, {group.name} ({group.seconds:.1f} s)")
        return [self._known[group.name] for group in groups if group.name in self._known]

    def _control(self, runner, group):
        """Runs a group with no bug on: what it reaches, how long it takes, and that it passes."""
        for _ in range(3):
            with tempfile.NamedTemporaryFile(prefix="mutate-reached-") as file:
                file.write(bytes(testing.PLACES))
                file.flush()
                outcome = runner.run([group.pattern], skipped=[testing.name_pattern(name) for name in group.left_out],
                                     to_the_end=True, reached=file.name, limit=900)
                file.seek(0)
                group.reached = frozenset(number for number, flag in enumerate(file.read(testing.PLACES)) if flag)
            group.seconds = outcome.seconds
            if outcome.status == "passed":
                self._known[group.name] = group
            if outcome.status in ("passed", "stopped"):
                return group
            # What fails with no bug on says nothing of one.
            self.left_out += [f"{group.name}: {failure}" for failure in outcome.failures]
            group.left_out = group.left_out + outcome.failures
        return group

    def _alone(self, runner, number, groups):
        """The outcome of the first run that failed with a mutant on; None when all passed."""
        waiting = sorted(groups, key=lambda group: group.seconds)
        while waiting and not self.stop.is_set():
            some, seconds = [], 0.0
            while waiting and (not some or seconds + waiting[0].seconds <= TOGETHER):
                some.append(waiting.pop(0))
                seconds += some[-1].seconds
            outcome = self._run(runner, [number], some)
            if outcome.status != "passed":
                return outcome
        return testing.Outcome("stopped", 0, []) if self.stop.is_set() else None

    def _run(self, runner, numbers, groups):
        """Runs groups with mutants on. A failure has to come twice in three runs, so that none of the machine's load counts."""
        outcome = self._once(runner, numbers, groups)
        if outcome.status != "failed":
            return outcome
        for _ in range(2):
            again = self._once(runner, numbers, groups)
            if again.status != "passed":
                return outcome if again.status == "failed" else again
        self.unsteady += outcome.failures
        return again

    @staticmethod
    def _once(runner, numbers, groups):
        skipped = [testing.name_pattern(name) for group in groups for name in group.left_out]
        return runner.run([group.pattern for group in groups], numbers=numbers, skipped=skipped,
                          limit=3 * sum(group.seconds for group in groups) + GRACE)
