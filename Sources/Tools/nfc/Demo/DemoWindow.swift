// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import UserBus

/// The window of the sample app.
enum DemoWindow {
    /// The app's process if it has a window; nil when the app runs without one, or does not run.
    static func process(of place: DemoSandbox) -> pid_t? {
        guard let bus = try? BusConnection(.user, address: place.busAddress),
            let number = try? bus.ask(
                BusCall(.daemon, "GetConnectionUnixProcessID", [.string("org.opencorenfc.TagReader")])
            ).first?.integer,
            let process = pid_t(exactly: number),
            let words = try? InputFile("/proc/\(process)/cmdline", limit: 1 << 20).readToEnd(),
            !words.split(separator: 0).contains(Array("--background".utf8)[...])
        else {
            return nil
        }
        return process
    }
}
