// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import LinkDelivery
@testable import UserBus

/// Checks what a failure of the bus means for a link, and what it says.
@Suite struct `Failures of the user's bus` {
    @Test(
        arguments: [
            (ENOENT, .noBus), (ECONNREFUSED, .noBus), (ECONNRESET, .noBus), (ENOTCONN, .noBus), (ENOMEDIUM, .noBus),
            (EPIPE, .noBus), (EEXIST, .nameTaken), (EALREADY, .nameTaken), (ETIMEDOUT, .noAnswer), (EAGAIN, .silentBus),
            (EACCES, .refused), (EINVAL, .refused),
        ] as [(CInt, BusError.Code)]
    ) func `A number of the library is one of a few codes, with the system's words`(number: CInt, code: BusError.Code) {
        let error = BusError(number: -number, "It failed")
        #expect(error.code == code)
        let words = number == ENOMEDIUM ? "the environment names none" : unsafe String(cString: strerror(number))
        #expect(error.reason == "It failed: \(words)." && error.description == error.reason)
    }

    @Test(
        arguments: [
            ("ServiceUnknown", .nobody), ("NameHasNoOwner", .nobody), ("UnknownMethod", .noMethod),
            ("UnknownInterface", .noMethod), ("UnknownObject", .noMethod), ("NoReply", .noAnswer),
            ("Timeout", .noAnswer), ("TimedOut", .noAnswer), ("AccessDenied", .refused), ("", .refused),
        ] as [(String, BusError.Code)]
    ) func `An error that a program answers is one of a few codes`(name: String, code: BusError.Code) {
        let error = BusError(answer: "org.freedesktop.DBus.Error." + name, "No such thing", of: "org.example")
        #expect(error.code == code)
        let verb = code == .noAnswer ? "does not answer" : "says"
        #expect(error.reason == "org.example \(verb): No such thing.")
        // Another program's error of the same name is its own.
        #expect(BusError(answer: "org.example.Error." + name, "No", of: "org.example").code == .refused)
    }

    @Test(arguments: [("Gone", "Gone."), ("Gone.", "Gone."), ("Gone!", "Gone!"), ("Gone?", "Gone?"), ("", ".")])
    func `A program's words end as a sentence does`(text: String, end: String) {
        #expect(BusError(answer: "org.example.Error", text, of: "org.example").reason == "org.example says: \(end)")
    }

    @Test(
        arguments: [
            (.libraryMissing, .noBus), (.noBus, .noBus), (.nobody, .notStarted), (.noAnswer, .noAnswer),
            (.silentBus, .noAnswer), (.foreign, .foreign), (.daemonMissing, .refused), (.noMethod, .refused),
            (.nameTaken, .refused), (.badMessage, .refused), (.refused, .refused),
        ] as [(BusError.Code, DeliveryError.Code)]
    ) func `A link that is not delivered has a code of its own, and the same words`(
        code: BusError.Code,
        expected: DeliveryError.Code
    ) {
        let error = DeliveryError(BusError(code, "Why."))
        #expect(error.code == expected && error.reason == "Why." && error.description == "Why.")
        #expect(error == DeliveryError(expected, "Another reason."))
        #expect(Set([error, DeliveryError(expected, "Another reason.")]).count == 1)
    }

    @Test(
        arguments: [
            (Int64.min, "in the future"), (-1, "in the future"), (0, "just now"), (119, "just now"),
            (120, "2 minutes ago"), (7199, "119 minutes ago"), (7200, "2 hours ago"), (172_799, "47 hours ago"),
            (172_800, "2 days ago"), (864_000, "10 days ago"),
        ]
    ) func `An age is told in the largest unit of which there are two`(seconds: Int64, text: String) {
        #expect(ageText(seconds: seconds) == text)
    }

    @Test(
        arguments: [
            (0, "a minute"), (60, "a minute"), (61, "2 minutes"), (120, "2 minutes"), (121, "3 minutes"),
            (7200, "120 minutes"), (7201, "3 hours"), (10_800, "3 hours"), (10_801, "4 hours"), (21_600, "6 hours"),
        ] as [(Int64, String)]
    ) func `A wait is told in minutes up to two hours, and then in hours, and no shorter than it is`(
        seconds: Int64,
        text: String
    ) {
        #expect(durationText(seconds: seconds) == text)
    }
}
