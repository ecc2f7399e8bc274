// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import UserBus

@Suite struct `An error of the bus` {
    @Test(
        arguments: [
            (ENOENT, .noBus), (ECONNREFUSED, .noBus), (ECONNRESET, .noBus), (ENOTCONN, .noBus), (EPIPE, .noBus),
            (EEXIST, .nameTaken), (EALREADY, .nameTaken), (ETIMEDOUT, .noAnswer), (EAGAIN, .silentBus),
            (EINVAL, .refused),
        ] as [(CInt, BusError.Code)]
    )
    func `has a code for a number of the system, and the system's words`(number: CInt, code: BusError.Code) {
        let words = unsafe String(cString: strerror(number))
        let error = BusError(number: -number, "It fails")
        #expect(error.code == code)
        #expect(error.reason == "It fails: \(words).")
    }

    @Test func `says that no bus is named where the environment has none`() {
        let error = BusError(number: -ENOMEDIUM, "There is no bus")
        #expect(error.code == .noBus && error.reason == "There is no bus: the environment names none.")
    }

    @Test(
        arguments: [
            ("ServiceUnknown", .nobody), ("NameHasNoOwner", .nobody), ("UnknownMethod", .noMethod),
            ("UnknownInterface", .noMethod), ("UnknownObject", .noMethod), ("NoReply", .noAnswer),
            ("Timeout", .noAnswer), ("TimedOut", .noAnswer), ("AccessDenied", .refused),
        ] as [(String, BusError.Code)]
    )
    func `has a code for an answer, and its words as a sentence`(name: String, code: BusError.Code) {
        let verb = code == .noAnswer ? "does not answer" : "says"
        for (text, end) in [("No", "."), ("No.", ""), ("No!", ""), ("No?", ""), (".No", ".")] {
            let error = BusError(answer: "org.freedesktop.DBus.Error." + name, text, of: "It")
            #expect(error.code == code)
            #expect(error.reason == "It \(verb): \(text)\(end)")
        }
    }

    @Test func `is equal to another one of its code, whatever that says`() {
        #expect(BusError(.nobody, "a") == BusError(.nobody, "b"))
        #expect(BusError(.nobody, "a") != BusError(.noMethod, "a"))
        #expect(BusError(.nobody, "a").description == "a")
    }

    @Test func `names what is missing of libsystemd`() throws {
        try LibSystemd.check(missing: nil)
        for (name, reason) in [
            ("", "libsystemd.so.0 is not installed. Install it with: apt-get install libsystemd0"),
            ("sd_bus_wait", "The system's libsystemd has no sd_bus_wait."),
        ] {
            let error = #expect(throws: BusError.self) { try LibSystemd.check(missing: name) }
            #expect(error?.code == .libraryMissing && error?.reason == reason)
        }
    }
}

@Suite struct `A wait for the bus` {
    @Test func `has no more time than its limit, and none when it is over`() {
        #expect(Deadline(after: .zero).left == nil && Deadline(after: .seconds(-1)).left == nil)
        let left = Deadline(after: .seconds(60)).left ?? .zero
        #expect(left > .zero && left <= .seconds(60))
    }

    @Test func `has its limit in microseconds, and at least one`() {
        let limits: [Duration] = [
            .seconds(2), .milliseconds(1500), .microseconds(3), .nanoseconds(1999), .nanoseconds(1), .zero,
            .seconds(-1),
        ]
        #expect(limits.map(BusConnection.microseconds) == [2_000_000, 1_500_000, 3, 1, 1, 1, 1])
    }
}
