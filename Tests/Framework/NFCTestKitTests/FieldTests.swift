// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import Testing

/// A field around a test: its tags, its person, its sheet, its clock and its trace.
@Suite(.timeLimit(.minutes(10))) struct FieldTests {
    private static func notes(_ field: TestField) -> [String] { field.trace.notes.map(\.text) }

    @Test func `client in a field: writes the tag, and the test sees message, sheet and exchanges`() async throws {
        try await withField(linkTag) { field in
            #expect(field.airtime == .zero)
            let (found, written) = (try await LinkClient.run(field), try await field.tags[0].message())
            #expect(found == oldLink && written == .uri(newLink))
            #expect(field.sheetTexts == ["Hold the card near the phone.", "Done."])
            #expect(field.sheetHistory.map(\.content.state).last == .success)
            #expect(field.exchanges.count > 10)
            let durations = field.exchanges.compactMap(\.duration)
            #expect(durations.count == field.exchanges.count && durations.allSatisfy { $0 > .zero })
            #expect(field.airtime == durations.reduce(.zero, +) && field.airtime <= field.now)
            #expect(field.airtime > .milliseconds(20) && field.airtime < .milliseconds(500))
            // Each moment of the sheet is in the trace.
            let shown = field.trace.notes.filter { $0.text.hasPrefix("sheet: ") }
            #expect(shown.map(\.time) == field.sheetHistory.map(\.time))
            #expect(shown.first?.text == "sheet: ready \"Hold the card near the phone.\"")
        }
    }

    @Test func `session without a tag: ends as timed out when the field's clock has passed 60 seconds`() async throws {
        try await withField { field in
            let error = await #expect(throws: NFCReaderError.self) { try await LinkClient.run(field) }
            #expect(error?.code == .readerSessionInvalidationErrorSessionTimeout)
            #expect(field.now >= .seconds(60) && field.now < .seconds(61))
        }
    }

    // MARK: The person

    @Test func `bring, takeAway and swap: change the tags near the phone, and each adds a note to the trace`()
        async throws
    {
        try await withField(linkTag) { field in
            #expect(Self.notes(field).isEmpty && field.tags.count == 1)
            let first = field.tags[0]
            let second = try await field.bring("NTAG213")
            try await field.takeAway(first)
            #expect(field.virtual?.tags.map(\.identifier) == [second.virtual.identifier])
            let third = try await field.swap(for: "NTAG216")
            #expect(field.virtual?.tags.map(\.identifier) == [third.virtual.identifier])
            try await field.takeAway()
            #expect(field.virtual?.tags.isEmpty == true && field.tags.count == 3)
            try await field.bring(first)
            #expect(field.virtual?.tags.map(\.identifier) == [first.virtual.identifier] && field.tags.count == 3)
            // What is made is not near.
            _ = try await field.make("NTAG213")
            #expect(field.virtual?.tags.count == 1 && field.tags.count == 4)
            #expect(
                Self.notes(field) == [
                    "the user brings \(second)", "the user takes \(first) away", "the user swaps it for \(third)",
                    "the user takes everything away", "the user brings \(first)",
                ]
            )
        }
    }

    @Test func `person brings a tag, later cancels: the session finds it, the next ends as cancelled`() async throws {
        try await withField { field in
            async let written = LinkClient.run(field)
            let tag = try await field.bring(linkTag)
            #expect(try await written == oldLink)
            #expect(try await tag.message() == .uri(newLink))
            try await field.takeAway()
            let cancelled = Task { try await LinkClient.run(field) }
            try await field.cancelSheet()
            let error = await #expect(throws: NFCReaderError.self) { try await cancelled.value }
            #expect(error?.code == .readerSessionInvalidationErrorUserCanceled)
            await #expect(throws: FieldError(.noButton, "")) { try await field.cancelSheet() }
        }
    }

    @Test
    func `app that restarts polling on every tag: wait(for:) of 2 s ends within 4 s, and Cancel ends the session`()
        async throws
    {
        try await withField(linkTag) { field in
            async let error = EagerClient.scan(field)
            await field.wait(for: .seconds(2))
            #expect(field.now >= .seconds(2) && field.now < .seconds(4))
            try await field.cancelSheet()
            let code = await (error as? NFCReaderError)?.code
            #expect(code == .readerSessionInvalidationErrorUserCanceled)
        }
    }

    @Test func `completions and shown errors: noted in the trace by name, repeated names with a number`() async throws {
        try await withField { field in
            for number in 0..<3 {
                let called = try await field.completion("read") { $0(number) }
                #expect(called == number)
            }
            #expect(Self.notes(field).last == "called: read 3")
            _ = try await field.completion { $0(7) }
            field.completed("by hand")
            field.completed()
            field.showedError("Oh.")
            field.note("My own.")
            #expect(
                Self.notes(field) == [
                    "called: read", "called: read 2", "called: read 3", "called: completion", "called: by hand",
                    "called: completion", "shown: Oh.", "My own.",
                ]
            )
        }
    }

    @Test func `trace: has the app's calls with what each got, and the delegate's callbacks, in order`() async throws {
        try await withField(linkTag) { field in
            _ = try await LinkClient.run(field)
            await field.settle()
            let begin = ["app: begin() of NFCNDEFReaderSession", "delegate: readerSessionDidBecomeActive(_:)"]
            let calls = ["connect(to:)", "queryNDEFStatus", "readNDEF", "writeNDEF"]
            let end = ["app: invalidate()", "delegate: readerSession(_:didInvalidateWithError:), error 200 \"Session"]
            let expected =
                begin + ["delegate: readerSession(_:didDetect:), 1 tag"]
                + calls.flatMap { ["app: \($0)", "app: \($0) gets no error"] } + end
            let notes = Self.notes(field).filter { $0.hasPrefix("app: ") || $0.hasPrefix("delegate: ") }
            #expect(notes.count == expected.count && zip(notes, expected).allSatisfy { $0.hasPrefix($1) }, "\(notes)")
        }
    }

    @Test func `trace: names the limits of a session and of a connected tag`() async throws {
        try await withField(linkTag) { field in
            let delegate = Waiting()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: false)
            session.begin()
            await field.wait(for: .seconds(70))
            #expect(Self.notes(field).contains { $0.hasPrefix("the tag was connected for 20 s, its limit") })
            #expect(Self.notes(field).contains("the session reaches its limit of 60 s"))
            withExtendedLifetime((delegate, session)) {}
        }
    }

    /// Connects to the tag, and does nothing more.
    private final class Waiting: NSObject, NFCNDEFReaderSessionDelegate {
        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
        func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
            session.connect(to: tags[0]) { _ in }
        }
        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
    }

    @Test func `wait(for:): successive waits add up on the field's clock, concurrent ones last as long as the longest`()
        async throws
    {
        try await withField { field in
            await field.wait(for: .seconds(2))
            await field.wait(for: .milliseconds(500))
            #expect(field.now == .milliseconds(2500))
            async let one: Void = field.wait(for: .seconds(3))
            async let other: Void = field.wait(for: .seconds(5))
            _ = await (one, other)
            await field.wait(for: .zero)
            await field.settle()
            #expect(field.now == .milliseconds(7500))
        }
    }

    @Test func `field that has ended: its calls fail as fieldIsGone`() async throws {
        let (field, tag) = try await withField(linkTag) { field in (field, field.tags[0]) }
        let gone = FieldError(.fieldIsGone, "")
        await #expect(throws: gone) { try await field.make("NTAG213") }
        await #expect(throws: gone) { try await field.bring("NTAG213") }
        await #expect(throws: gone) { try await field.bring(tag) }
        await #expect(throws: gone) { try await field.takeAway() }
        await #expect(throws: gone) { try await field.swap(for: "NTAG213") }
        await #expect(throws: gone) { try await field.cancelSheet() }
        await #expect(throws: gone) { try await tag.message() }
        #expect(throws: gone) { try tag.contents() }
        await #expect(throws: gone) {
            _ = try await field.completion { (_: @escaping @Sendable (Int) -> Void) in
                Issue.record("The work has started, though nothing can come of it.")
            }
        }
        #expect(field.tags.count == 1 && field.virtual?.tags.isEmpty == true)
        // It does not make its test wait.
        await field.settle()
    }

    @Test func `field in a field: is refused`() async throws {
        try await withField { _ in
            await #expect(throws: FieldError(.fieldInField, "")) { try await withField { _ in } }
        }
    }

    @Test func `session begun while the last sheet leaves: waits, or fails with 203 under refuseWhileSheetLeaves`()
        async throws
    {
        for policy in [SessionArbiter.BusyPolicy.queue, .refuseWhileSheetLeaves] {
            let code: NFCReaderError.Code? = policy == .queue ? nil : .readerSessionInvalidationErrorSystemIsBusy
            try await withField(linkTag, busyPolicy: policy) { field in
                _ = try await LinkClient.run(field)
                await field.settle()
                let second = try await field.completion("two") { LinkClient().start($0) }
                #expect(second.code == code)
            }
        }
    }

    // MARK: Determinism

    /// Writes, and returns the trace. Some wait for their tag, and some first let time pass.
    @Sendable private static func trace(_ number: Int) async throws -> Trace {
        try await withField(seed: UInt64(number % 10)) { field in
            async let old = LinkClient.run(field, "https://example.com/\(number)/new")
            if number.isMultiple(of: 3) { await field.wait(for: .seconds(number % 50)) }
            try await field.bring(.product("NTAG215", holding: .uri("https://example.com/\(number)")))
            #expect(try await old == "https://example.com/\(number)")
            #expect(try await field.tags[0].message() == .uri("https://example.com/\(number)/new"))
            await field.wait(for: .seconds(3))
            return field.trace
        }
    }

    @Test func `field with the same seed: the same trace beside 60 other fields as on busy processors`() async throws {
        let together = try await withThrowingTaskGroup(of: (Int, Trace).self) { group in
            for number in 0..<60 { group.addTask { (number, try await Self.trace(number)) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let isOver = Box<Bool>()
        for _ in 0..<3 {
            Thread.detachNewThread {
                var number: UInt64 = 1
                while isOver.value == nil {
                    // Busy, with a rest now and then: time moves when all rest.
                    for _ in 0..<5_000 { number = number &* 6_364_136_223_846_793_005 &+ 1 }
                    usleep(2000)
                }
            }
        }
        for number in stride(from: 0, to: 60, by: 10) {
            #expect(try await Self.trace(number) == together[number], "\(number)")
        }
        isOver.set(true)
    }

    // MARK: The trait

    @Test func `trait: its field has the tags, app and seed, and errors go on to the testing library`() async throws {
        let test = try #require(Test.current)
        let names = try await withField("NTAG215", "NTAG213", seed: 7) { $0.tags.map(\.description) }
        let app = AppProperties(infoPlist: ["NFCReaderUsageDescription": "Cards are read."])
        let trait: FieldTrait = .field("NTAG215", "NTAG213", app: app, seed: 7)
        await #expect(throws: FieldError(.noButton, "")) {
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                let field = try #require(TestField.current)
                #expect(field.seed == 7 && field.tags.map(\.description) == names)
                #expect(field.environment.app?.infoPlist == ["NFCReaderUsageDescription": "Cards are read."])
                throw FieldError(.noButton, "There is none.")
            }
        }
        // A suite gets no field, since each of its tests does.
        let scoped = NFCEnvironment.scoped
        try await trait.provideScope(for: test, testCase: nil) { #expect(NFCEnvironment.scoped === scoped) }
    }
}

@Suite(.field("NTAG215", seed: 4711), .timeLimit(.minutes(5))) struct FieldSuiteTests {
    struct Inner {
        @Test func `trait of an outer suite: puts each test in a field`() throws {
            let field = try #require(TestField.current)
            #expect(NFCEnvironment.scoped === field.environment && field.seed == 4711 && field.tags.count == 1)
        }
    }
}
