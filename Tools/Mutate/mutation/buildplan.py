# SPDX-License-Identifier: Apache-2.0
"""What the package manager built: how one file of a module is compiled again, and a program linked again.

A bug changes the bodies of functions and no interface, so that nothing else has to be built, and what was built is left as
it is: the planted files are compiled to objects of their own, and programs linked with these in place of the others.
"""
import json
import pathlib
import re
import shlex
import subprocess

# Arguments of a compiler's job that name what it writes, each with a value, and single ones that don't matter here.
OUTPUTS = {
    "-emit-dependencies-path", "-emit-reference-dependencies-path", "-serialize-diagnostics-path", "-index-store-path",
    "-index-unit-output-path", "-emit-const-values-path", "-supplementary-output-file-map", "-o",
}
SINGLE = {"-primary-file", "-warnings-as-errors", "-index-system-modules", "-index-ignore-system-modules"}


class BuildFailed(Exception):
    pass


class BuildPlan:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.folder = (self.root / ".build/debug").resolve()
        text = (self.root / ".build/debug.yaml").read_text()
        # One entry a command: its name, then its fields, one a line, in the form of JSON.
        self.modules, self.links = {}, {}
        for name, arguments in re.findall(r'^  "(C\.[^"]*)":\n(?:    (?!args).*\n)*    args: (\[.*\])$', text, re.MULTILINE):
            module = re.fullmatch(r"C\.(.*)-debug\.module", name)
            if module and not module[1].endswith("-tool"):
                command = json.loads(arguments)
                if "-module-name" in command:
                    self.modules[command[command.index("-module-name") + 1]] = command
            elif '"-emit-executable"' in arguments:
                command = json.loads(arguments)
                self.links[command[command.index("-o") + 1]] = command
        if not self.modules or not self.links:
            raise BuildFailed("the plan of the package manager in .build/debug.yaml has no compiler in it")
        self._jobs, self._objects = {}, {}

    @property
    def tests(self):
        """The program with all tests."""
        return next(pathlib.Path(path) for path in self.links if path.endswith(".xctest"))

    def objects(self, module):
        """The object of each source of a module, both as absolute paths."""
        if module not in self._objects:
            command = self.modules[module]
            table = json.loads(pathlib.Path(command[command.index("-output-file-map") + 1]).read_text())
            self._objects[module] = {source: entry["object"] for source, entry in table.items() if "object" in entry}
        return self._objects[module]

    def _job(self, module):
        """The command that compiles a file of a module, without its sources and its outputs."""
        if module not in self._jobs:
            command = [word for word in self.modules[module] if word != "-parseable-output"]
            said = subprocess.run(command + ["-driver-print-jobs", "-driver-filelist-threshold", "1000000"], cwd=self.root,
                                  capture_output=True, text=True)
            job = next((line for line in said.stdout.splitlines() if " -frontend -c " in line), None)
            if job is None:
                raise BuildFailed(f"how {module} is compiled: {said.stderr[:500]}")
            sources, words, kept = set(self.objects(module)), iter(shlex.split(job)), []
            for word in words:
                if word in OUTPUTS:
                    next(words)
                elif word not in SINGLE and word not in sources:
                    kept.append(word)
            self._jobs[module] = kept
        return self._jobs[module]

    def compile_command(self, module, source, planted, output):
        """Compiles a file of a module from other text: all paths are absolute."""
        words = self._job(module)
        sources = []
        for other in self.objects(module):
            sources += ["-primary-file", str(planted)] if other == str(source) else [other]
        return words[:3] + sources + words[3:] + ["-diagnostic-style=llvm", "-suppress-warnings", "-o", str(output)]

    def programs(self):
        """The programs that were built for tests: those beside the tests."""
        return [pathlib.Path(path) for path in self.links if pathlib.Path(path).is_file()]

    def link_list(self, program):
        command = self.links[str(program)]
        name = next(word[1:] for word in command if word.startswith("@"))
        return [shlex.split(line)[0] for line in pathlib.Path(name).read_text().splitlines() if line]

    def link_command(self, program, objects, listing, output):
        """Links a program with objects in place of others, which `listing` is written with."""
        lines = [objects.get(line, line) for line in self.link_list(program)] + [objects["switch"]]
        pathlib.Path(listing).write_text("".join(shlex.quote(line) + "\n" for line in lines))
        command = [f"@{listing}" if word.startswith("@") else word for word in self.links[str(program)]]
        command[command.index("-o") + 1] = str(output)
        return command
