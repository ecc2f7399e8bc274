# SPDX-License-Identifier: Apache-2.0
"""What the package manager says of the package: its targets, and which tests depend on them."""
import hashlib
import json
import pathlib
import subprocess


class Package:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        described = subprocess.run(["swift", "package", "describe", "--type", "json"], cwd=self.root, check=True,
                                   capture_output=True, text=True).stdout
        self.targets = {target["name"]: target for target in json.loads(described)["targets"]}

    def plantable(self):
        """The targets of Swift that are no tests, nor written for tests or as examples alone."""
        return sorted(name for name, target in self.targets.items()
                      if target["type"] != "test" and target["path"].startswith("Sources/")
                      and any(source.endswith(".swift") for source in target["sources"]))

    def sources(self, name):
        """The files of a target, relative to the package."""
        target = self.targets[name]
        return sorted(f"{target['path']}/{source}" for source in target["sources"] if source.endswith(".swift"))

    def _depends(self, name, seen=None):
        seen = set() if seen is None else seen
        for other in self.targets[name].get("target_dependencies", []):
            if other not in seen and other in self.targets:
                seen.add(other)
                self._depends(other, seen)
        return seen

    def own_tests(self, name):
        """The test targets that are named after a target, or those that depend on it directly where none is."""
        tests = [test for test, target in self.targets.items() if target["type"] == "test"]
        named = [test for test in tests if test.startswith(name) and test.endswith("Tests")
                 and test[len(name):-len("Tests")] in ("", "Swift5")]
        return sorted(named or (test for test in tests if name in self.targets[test].get("target_dependencies", [])))

    def other_tests(self, name):
        """The other test targets that depend on a target, directly or not."""
        own = self.own_tests(name)
        return sorted(test for test, target in self.targets.items()
                      if target["type"] == "test" and test not in own and name in self._depends(test))

    def source_hash(self, name):
        return self._hash(self.sources(name))

    def test_hash(self, name, far):
        """Changes with every file of the tests of a target, also with those they read; `far` has tests of others too."""
        files = []
        for test in self.own_tests(name) + (self.other_tests(name) if far else []):
            folder = self.root / self.targets[test]["path"]
            files += [str(path.relative_to(self.root)) for path in folder.rglob("*")
                      if path.is_file() and "__pycache__" not in path.parts]
        return self._hash(sorted(files)) + ("-all" if far else "-own")

    def _hash(self, files):
        digest = hashlib.sha256()
        for file in files:
            digest.update(file.encode() + b"\0" + hashlib.sha256((self.root / file).read_bytes()).digest())
        return digest.hexdigest()[:16]
