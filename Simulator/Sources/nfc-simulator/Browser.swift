// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorServer

/// Opens the user's browser.
enum Browser {
    /// Opens an address with xdg-open. Without a desktop nothing happens: the address was printed.
    static func open(_ url: String) {
        let environment = ProcessInfo.processInfo.environment
        guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdg-open", url]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try? process.runWithoutBlockedSignals()
    }
}
