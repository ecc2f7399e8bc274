// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import LinkDelivery

@Suite(.ownThreads, .timeLimit(.minutes(3))) struct `A child program` {
    private func child(_ script: String) throws -> ChildProgram {
        try ChildProgram("/bin/sh", ["sh", "-c", script], folder: "/", environment: [:])
    }

    @Test func `reports its end to each that waits, again and again`() throws {
        let program = try child("exit 3")
        for _ in 0..<3 { #expect(program.wait(.seconds(60)) == 3 << 8) }
        #expect(program.wait(.zero) == 3 << 8)
        #expect(try child("kill -KILL $$").wait(.seconds(60)) == SIGKILL)
    }

    @Test func `has no end while it runs`() throws {
        let program = try child("read -r line < /dev/null; exec sleep 600")
        #expect(program.wait(.zero) == nil && program.wait(.milliseconds(1)) == nil)
        kill(program.process, SIGTERM)
        #expect(program.wait(.seconds(60)) == SIGTERM)
    }

    @Test func `is waited for as long as asked, to the nanosecond`() {
        let times: [(Duration, Int)] = [
            (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(20), 20_000_000), (.seconds(2), 2_000_000_000),
            (.milliseconds(1500), 1_500_000_000), (.seconds(-1), -1_000_000_000),
        ]
        for (time, nanoseconds) in times { #expect(ChildProgram.nanoseconds(time) == nanoseconds) }
    }

    @Test func `says why it can't be started`() {
        let error = #expect(throws: DeliveryError.self) {
            try ChildProgram("/nowhere", ["x"], folder: "/", environment: [:])
        }
        #expect(error?.code == .notStarted)
        #expect(error?.reason == "/nowhere can't be started: No such file or directory.")
    }

    @Test(
        arguments: [
            (0, "with status 0"), (1 << 8, "with status 1"), (255 << 8, "with status 255"), (1, "by signal 1"),
            (9, "by signal 9"),
            (11 | 0x80, "by signal 11"),
        ] as [(Int32, String)]
    ) func `has an end with words of its own`(status: Int32, text: String) {
        #expect(ProgramStart.text(status) == text)
    }

    @Test(arguments: [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]) func `has no variable that is meant for the service that starts it`(name: String) {
        let own = ["HOME": "/h", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/b", "XDG_RUNTIME_DIR": "/r", "DISPLAY": ":0"]
        #expect(ProgramStart.environment(own.merging([name: "x"]) { $1 }) == own)
    }
}
