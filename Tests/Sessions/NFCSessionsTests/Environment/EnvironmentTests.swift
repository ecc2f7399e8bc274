// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCReaders
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TestThreads
import Testing

/// Which environment code runs in, who gets which notice, and the clock outside of tests.
@Suite(.timeLimit(.minutes(1))) struct EnvironmentTests {
    private static func environment(belongsToTest: Bool) -> NFCEnvironment {
        NFCEnvironment(reader: .none(reason: "None."), clock: ManualClock(), belongsToTest: belongsToTest)
    }

    @Test(arguments: [true, false])
    func `app's queue: callbacks run on the queue, and have the environment only if it belongs to a test`(
        belongsToTest: Bool
    ) async {
        let environment = Self.environment(belongsToTest: belongsToTest)
        let (queue, key) = (DispatchQueue(label: "app"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let (isOnQueue, scoped): (Bool, NFCEnvironment?) = await withCompletion { done in
            environment.call(on: queue) { done((DispatchQueue.getSpecific(key: key) == true, NFCEnvironment.scoped)) }
        }
        #expect(isOnQueue && (scoped === environment) == belongsToTest)
    }

    @Test func `environment of a task: also its child tasks', and not others'`() async {
        let environment = Self.environment(belongsToTest: true)
        await NFCEnvironment.$scoped.withValue(environment) {
            #expect(NFCEnvironment.current === environment && NFCEnvironment.ofTest === environment)
            let inChild = await Task { NFCEnvironment.current }.value
            #expect(inChild === environment)
        }
        #expect(NFCEnvironment.scoped == nil)
        // An environment is an app's, unless it is made for a test.
        let (clock, reader) = (ManualClock(), NFCEnvironment.Reader.none(reason: "None."))
        #expect(!NFCEnvironment(reader: reader, clock: clock).belongsToTest)
    }

    /// A test kit's context, which prints only lines that begin with an exclamation mark.
    private final class Context: TestContext {
        static var environmentOfCaller: NFCEnvironment? { nil }
        func made(_ object: AnyObject, as kind: MadeObject) {}
        func willConnect() {}
        func line(for notice: String) -> String? { notice.hasPrefix("!") ? notice : nil }
        func note(_ event: String) {}
        func end(because reason: String) -> Bool { false }
        var isOpen: Bool { true }
    }

    @Test(.ownThreads) func `notice to the author: one line on standard error, or kept by a test`() async {
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let plain = NFCEnvironment(reader: .none(reason: "None."))
            plain.notice("Two\nlines.")
            for _ in 0..<3 { plain.noticeOnce("Once.", from: "NFC_READER") }
            let kept = Locked<[String]>([])
            let ofTest = NFCEnvironment(
                reader: .none(reason: "None."),
                clock: ManualClock(),
                belongsToTest: true,
                onNotice: { text in kept.withLock { $0.append(text) } },
                testContext: Context()
            )
            ofTest.notice("Kept.")
            ofTest.notice("!Printed.")
            ofTest.noticeOnce("Kept.")
            exit(kept.withLock { $0 } == ["Kept.", "!Printed.", "Kept."] ? 0 : 1)
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("CoreNFC: Two\\nlines.\nNFC_READER: Once.\nCoreNFC: !Printed.\n"))
        #expect(!text.contains("Kept"))
    }

    // MARK: The system's clock

    @Test func `system clock: events fire in the order of their times, and at once if the time has passed`() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        var order: [Int] = []
        let clock = SystemClock.shared
        let hour = clock.schedule(after: .seconds(3600)) { continuation.yield(9) }
        _ = clock.schedule(after: .milliseconds(40)) { continuation.yield(2) }
        _ = clock.schedule(after: .milliseconds(5)) { continuation.yield(1) }
        clock.schedule(after: .milliseconds(30)) { continuation.yield(0) }.cancel()
        let later = clock.schedule(after: .seconds(3600)) { continuation.yield(9) }
        for await value in stream {
            order.append(value)
            // One whose time has passed already.
            if value == 2 { _ = clock.schedule(after: .seconds(-1)) { continuation.yield(3) } }
            if value == 3 { break }
        }
        #expect(order == [1, 2, 3])
        for event in [hour, later] { event.cancel() }
    }
}
