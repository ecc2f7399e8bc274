// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UserBus

/// The service, as it runs for a user on a bus of a test's own; it is killed with its owner.
final class RunningNfcd {
    /// Its object on the bus.
    static let object = BusCall.Object(
        "org.opencorenfc.Background",
        "/org/opencorenfc/Background",
        "org.opencorenfc.Background1"
    )

    let user: User
    private let folder: ScratchFolder
    private let bus: Bus
    private let process = Process()

    /// Starts it.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - environment: variables in addition to the user's.
    ///   - wrapper: a program with its arguments that starts it, such as `unshare -n`.
    ///   - preparing: called first, to prepare the user's files.
    init(
        _ arguments: [String] = ["--json"],
        environment: [String: String] = ["NFC_READER": "virtual"],
        under wrapper: [String] = [],
        preparing: (User) throws -> Void = { _ in }
    ) throws {
        folder = try ScratchFolder()
        bus = try Bus(folder.path(""))
        user = try User(
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": folder.path("run")]
                .merging(environment) { $1 }
        )
        try preparing(user)
        let nfcd = Command(name: "nfcd", environment: user.nfc.environment)
        let words = wrapper + [nfcd.path] + arguments
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = nfcd.variables
        for name in ["log", "errors"] { _ = FileManager.default.createFile(atPath: folder.path(name), contents: nil) }
        process.standardOutput = FileHandle(forWritingAtPath: folder.path("log"))
        process.standardError = FileHandle(forWritingAtPath: folder.path("errors"))
        try process.run()
    }

    var identifier: pid_t { process.processIdentifier }

    /// What it has printed.
    var log: String { (try? String(contentsOfFile: folder.path("log"), encoding: .utf8)) ?? "" }

    /// What it has printed to standard error.
    var errors: String { (try? String(contentsOfFile: folder.path("errors"), encoding: .utf8)) ?? "" }

    /// The objects that it has printed.
    func objects() throws -> [[String: Any]] {
        try Command.Outcome(status: 0, output: log, error: "").objects()
    }

    /// Waits until it has printed a text so often.
    ///
    /// - Returns: false when it has not in a minute, or ended before.
    func prints(_ text: String, times: Int = 1) -> Bool {
        for _ in 0..<6000 {
            let isEnded = !process.isRunning
            if log.components(separatedBy: text).count > times { return true }
            if isEnded { return false }
            usleep(10_000)
        }
        return false
    }

    /// Waits until standard error has a text.
    ///
    /// - Returns: false when it has not in a minute.
    func errorsPrint(_ text: String) -> Bool {
        for _ in 0..<6000 {
            if errors.contains(text) { return true }
            usleep(10_000)
        }
        return false
    }

    /// Ends the bus that it is on.
    func endBus() { bus.end() }

    /// Asks it to end.
    ///
    /// - Returns: its exit status.
    func end() -> Int32 {
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        return process.terminationStatus
    }

    deinit {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
