// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SimulatorModel

/// The programs that the simulator has started. They use the simulator as their reader; the phone shows their output.
final class AppProcesses: Sendable {
    /// How long a program may take to end before it is killed.
    private static let patience = Duration.seconds(3)

    private let simulator: Simulator
    private let socketPath: String
    private let running = Locked<[String: Process]>([:])
    private let watcher = AppWatcher()

    init(_ simulator: Simulator, socketPath: String) {
        self.simulator = simulator
        self.socketPath = socketPath
    }

    /// Starts a program in its own process group.
    ///
    /// - Parameters:
    ///   - id: the app's id.
    ///   - command: the program and its arguments, as a shell command.
    func start(_ id: String, command: String) {
        guard running.withLock({ $0[id] == nil }) else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        var environment = ProcessInfo.processInfo.environment
        environment["NFC_READER"] = "simulator:\(socketPath)"
        environment["NFC_SHEET"] = nil
        // The phone's screen is small, so keep crash reports short.
        if environment["SWIFT_BACKTRACE"] == nil {
            environment["SWIFT_BACKTRACE"] = "color=no,threads=crashed,registers=none,images=none,limit=8,top=2"
        }
        process.environment = environment
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let isRead = DispatchSemaphore(value: 0)
        read(output, of: id, until: isRead)
        // A program may end before it is in `running`.
        let isNoted = DispatchSemaphore(value: 0)
        process.terminationHandler = { [weak self] process in
            isNoted.wait()
            // All output is printed before the end. A child that goes on may keep it open.
            _ = isRead.wait(timeout: .now() + .milliseconds(500))
            self?.ended(id, process)
        }
        do {
            try process.runWithoutBlockedSignals()
            watcher.watch(Self.target(process))
            running.withLock { [process] in $0[id] = process }
            simulator.appRuns(id, pid: process.processIdentifier)
            isNoted.signal()
        } catch {
            simulator.appPrinted(id, "The program can't be started: \(error.localizedDescription)")
            simulator.appRuns(id, pid: nil)
        }
    }

    func stop(_ id: String) {
        guard let process = running.withLock({ $0[id] }) else { return }
        Self.signal(process, SIGTERM)
    }

    /// Terminates all programs. Kills those that do not end in time.
    func stopAll() async {
        let processes = running.withLock { Array($0.values) }
        for process in processes { Self.signal(process, SIGTERM) }
        let end = ContinuousClock.now + Self.patience
        while running.withLock({ !$0.isEmpty }), ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(20))
        }
        for process in running.withLock({ Array($0.values) }) { Self.signal(process, SIGKILL) }
    }

    /// Sends a signal to a program and its children.
    private static func signal(_ process: Process, _ number: Int32) {
        kill(target(process), number)
    }

    /// The target for `kill` that includes the program's children: Foundation gives each program its own group.
    private static func target(_ process: Process) -> Int32 {
        let pid = process.processIdentifier
        return getpgrp() == getpgid(pid) ? pid : -pid
    }

    private func ended(_ id: String, _ process: Process) {
        watcher.forget(-process.processIdentifier)
        watcher.forget(process.processIdentifier)
        running.withLock { _ = $0.removeValue(forKey: id) }
        if process.terminationStatus != 0 {
            simulator.appPrinted(id, "The program ended with status \(process.terminationStatus).")
        }
        simulator.appRuns(id, pid: nil)
    }

    private func read(_ pipe: Pipe, of id: String, until isRead: DispatchSemaphore) {
        let pending = Locked<[UInt8]>([])
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            let lines = pending.withLock { pending -> [String] in
                var lines: [String] = []
                for byte in data {
                    if byte == 0x0A || pending.count >= Limits.outputLine {
                        lines.append(String(decoding: pending, as: UTF8.self))
                        pending = byte == 0x0A ? [] : [byte]
                    } else if byte != 0x0D {
                        pending.append(byte)
                    }
                }
                if data.isEmpty, !pending.isEmpty {
                    lines.append(String(decoding: pending, as: UTF8.self))
                    pending = []
                }
                return lines
            }
            for line in lines { self?.simulator.appPrinted(id, line) }
            guard data.isEmpty else { return }
            handle.readabilityHandler = nil
            isRead.signal()
        }
    }
}
