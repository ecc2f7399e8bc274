# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of the package with bugs planted in them, many in one build."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess

from .buildplan import BuildFailed
from .planted import PlantedFile

ERROR = re.compile(r"^(.*\.swift):(\d+):(\d+): error: (.*)$", re.MULTILINE)
# The time limit in seconds to compile a file with planted bugs.
PATIENCE = 240


class Build:
    """A folder like .build/debug whose programs have the planted bugs. The other files are links."""

    def __init__(self, plan, module_of, folder, jobs):
        self.plan, self.module_of, self.jobs = plan, module_of, jobs
        self.folder = pathlib.Path(folder)
        self.products = self.folder / "debug"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.products.mkdir(parents=True)
        self.planted = {}
        self.refused = {}

    def plant(self, draws, stop=lambda: False):
        """Plants places: `draws` are pairs of what yields places and how many of them to plant.

        Those that don't compile are replaced by the next of their draw. Returns the places by number.
        """
        self.planted, origins, tried = {}, {}, []
        objects, fresh, last = {}, True, 0
        while fresh and not stop():
            changed, fresh = set(), False
            for index, (draw, count) in enumerate(draws):
                there = sum(origins[number] == index for number in self.planted)
                while there < count:
                    place = next(draw, None)
                    if place is None:
                        break
                    if any(place.collides(other) for other in tried):
                        continue
                    tried.append(place)
                    last, there, fresh = last + 1, there + 1, True
                    self.planted[last], origins[last] = place, index
                    changed.add(place.file)
            if fresh:
                objects.update(self._compile(changed, stop))
        if self.planted and not stop():
            self._link(objects)
        return dict(self.planted)

    def _compile(self, files, stop):
        """Compiles files with planted bugs, and drops the bugs that the compiler refuses until the files compile."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            results = pool.map(lambda file: (file, self._compile_file(file, stop)), sorted(files))
            return {file: output for file, output in results if output}

    def _compile_file(self, file, stop):
        source = self.plan.root / file
        copy = self.folder / "sources" / file
        output = self.folder / "objects" / (file + ".o")
        copy.parent.mkdir(parents=True, exist_ok=True)
        output.parent.mkdir(parents=True, exist_ok=True)
        while not stop():
            numbered = [(number, place) for number, place in list(self.planted.items()) if place.file == file]
            planted = PlantedFile(source.read_bytes(), numbered)
            copy.write_bytes(planted.text)
            command = self.plan.compile_command(self.module_of[file], source, copy, output)
            try:
                done = subprocess.run(command, cwd=self.plan.root, capture_output=True, text=True, timeout=PATIENCE)
                if done.returncode == 0:
                    return str(output)
                errors = [(int(line), int(column), message) for name, line, column, message in ERROR.findall(done.stderr)
                          if name == str(copy)]
                said = done.stderr[-2000:]
            except subprocess.TimeoutExpired:
                errors, said = [], f"not compiled after {PATIENCE} s"
            if not numbered:
                raise BuildFailed(f"{file}: {said}")
            blamed = {number: message for line, column, message in errors for number in planted.blamed(line, column)}
            for number in blamed or [number for number, _ in numbered]:
                self.refused[self.planted.pop(number)] = blamed.get(number, said)
        return None

    def _link(self, compiled):
        switch = self.folder / "switch.o"
        subprocess.run(["clang", "-c", "-O1", "-fPIC", "-o", str(switch), str(pathlib.Path(__file__).with_name("switch.c"))],
                       check=True)
        objects = {"switch": str(switch)}
        for file, output in compiled.items():
            objects[self.plan.objects(self.module_of[file])[str(self.plan.root / file)]] = output
        programs = [program for program in self.plan.programs()
                    if program == self.plan.tests or not objects.keys().isdisjoint(self.plan.link_list(program))]
        for entry in os.listdir(self.plan.folder):
            link = self.products / entry
            if link.is_symlink() or link.exists():
                link.unlink()
            if self.plan.folder / entry not in programs:
                link.symlink_to(self.plan.folder / entry)

        def link(program):
            command = self.plan.link_command(program, objects, self.folder / f"{program.name}.list",
                                             self.products / program.name)
            done = subprocess.run(command, cwd=self.plan.root, capture_output=True, text=True)
            if done.returncode:
                raise BuildFailed(f"{program.name} does not link: {(done.stderr + done.stdout)[-2000:]}")

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(link, programs))

    @property
    def tests(self):
        return self.products / self.plan.tests.name
