// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorServer

/// The user's browser.
enum Browser {
    /// Whether there is a desktop to open it on.
    static var isAvailable: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
    }

    /// Opens a file with xdg-open. Every user sees the path, and no address with a token.
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
