// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorServer

/// Opens files in the user's browser.
enum Browser {
    /// Whether a desktop is available.
    static var isAvailable: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
    }

    /// Opens a file with xdg-open. Other users can see the arguments, so pass a path, not an address with a token.
    static func open(_ path: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdg-open", path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try? process.runWithoutBlockedSignals()
    }
}
