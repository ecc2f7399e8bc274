// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The Python interpreter that has the peers installed.
public enum PythonInterpreter {
    /// Its path: the environment variable `NFC_PYTHON`, or `.venv/bin/python` in the root of the repository if it
    /// exists. Nil when there is neither; then tests with Python peers are skipped.
    ///
    /// The path in `NFC_PYTHON` is not checked: a wrong path must fail a test, not skip it.
    public static let path: String? = {
        if let path = ProcessInfo.processInfo.environment["NFC_PYTHON"], !path.isEmpty { return path }
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let path = root.appending(path: ".venv/bin/python").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    /// Why tests are skipped when there is no interpreter.
    public static let reason =
        "NFC_PYTHON is not set and there is no .venv in the repository; '.ci/run' says what to install."
}
