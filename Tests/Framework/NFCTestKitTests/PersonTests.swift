// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import TagTrace
import Testing

/// What a person does in a field, and what a test asks of it.
@Suite(.timeLimit(.minutes(10))) struct `A person in a field` {
    private static let link = TagSpec.product("NTAG215", holding: .uri("https://example.com/a"))

    private static func notes(_ field: TestField) -> [String] {
        field.trace.entries.compactMap { if case .note(let text) = $0.event { text } else { nil } }
    }

    @Test func `What the person does is in the trace, but not what was near from the start`() async throws {
        try await withField(Self.link) { field in
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
            #expect(
                Self.notes(field) == [
                    "the person brings \(second)", "the person takes \(first) away", "the person swaps it for \(third)",
                    "the person takes everything away", "the person brings \(first)",
                ]
            )
        }
    }

    @Test func `What is made is not near`() async throws {
        try await withField { field in
            let tag = try await field.make("NTAG213")
            #expect(field.tags.count == 1 && field.virtual?.tags.isEmpty == true && Self.notes(field).isEmpty)
            #expect(tag.description == "NTAG213 \(tag.virtual.identifier.map { String(format: "%02x", $0) }.joined())")
            #expect(try await field.make(.script([])).description.hasPrefix("card 08"))
        }
    }

    @Test func `Nothing is done in a field that has ended`() async throws {
        let (field, tag) = try await withField(Self.link) { field in (field, field.tags[0]) }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await field.make("NTAG213") }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await field.bring("NTAG213") }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await field.bring(tag) }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await field.takeAway() }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await field.swap(for: "NTAG213") }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await field.cancelSheet() }
        #expect(throws: FieldError(.fieldIsGone, "")) { try tag.contents() }
        #expect(field.tags.count == 1 && field.virtual?.tags.isEmpty == true)
        // A field that has ended does not make its test wait.
        await field.settle()
    }

    @Test func `Waits add up, and of two at once the longer one counts`() async throws {
        try await withField { field in
            await field.wait(for: .seconds(2))
            await field.wait(for: .milliseconds(500))
            #expect(field.now == .milliseconds(2500))
            async let one: Void = field.wait(for: .seconds(3))
            async let other: Void = field.wait(for: .seconds(5))
            _ = await (one, other)
            #expect(field.now == .milliseconds(7500))
            await field.wait(for: .zero)
            await field.settle()
            #expect(field.now == .milliseconds(7500))
        }
    }

    @Test func `A text on the sheet counts once while it stays`() async throws {
        try await withField(Self.link) { field in
            _ = try await field.completion("write") { Writer("https://example.com/b").start($0) }.get()
            await field.settle()
            let texts = field.sheetHistory.map(\.content.message)
            #expect(field.sheetTexts == ["Hold the card near the phone.", "Done."] && texts.count > 2)
            _ = try await field.completion("write") { Writer("https://example.com/c").start($0) }.get()
            #expect(field.sheetTexts.count == 4)
            #expect(zip(field.sheetHistory, field.sheetHistory.dropFirst()).allSatisfy { $0.time <= $1.time })
            // Each moment of the sheet is in the trace at its time, with its text.
            let shown = field.trace.entries.compactMap { entry -> TestField.SheetMoment? in
                guard case .note(let text) = entry.event, text.hasPrefix("sheet: ") else { return nil }
                return field.sheetHistory.first { moment in
                    let words = moment.content.message.isEmpty ? "" : " \"\(moment.content.message)\""
                    return moment.time == entry.time && text == "sheet: \(moment.content.state.rawValue)\(words)"
                }
            }
            #expect(shown.count == field.sheetHistory.count)
        }
    }

    @Test func `The airtime is that of all exchanges`() async throws {
        try await withField(Self.link) { field in
            #expect(field.airtime == .zero)
            _ = try await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            let durations = field.exchanges.compactMap(\.duration)
            #expect(durations.count == field.exchanges.count && durations.allSatisfy { $0 > .zero })
            #expect(field.airtime == durations.reduce(.zero, +) && field.airtime <= field.now)
        }
    }

    @Test func `What is called or shown is noted by its name`() async throws {
        try await withField { field in
            for number in 0..<3 {
                let called = try await field.completion("read") { $0(number) }
                #expect(called == number)
            }
            let called = try await field.completion { $0(7) }
            #expect(called == 7)
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

    @Test func `A call is noted before the test goes on`() async throws {
        try await withField { field in
            let thread = OneThread()
            let notes = try await Task(executorPreference: thread) {
                let _: Int = try await field.completion("read") { done in thread.queue.async { done(1) } }
                return Self.notes(field)
            }.value
            #expect(notes == ["called: read"])
        }
    }

    @Test func `Those that were never called are named, in the order they were passed`() async throws {
        let reason = await StrangersReason.of {
            try await withField(grace: .milliseconds(50)) { field in
                _ = try await field.completion("zero") { $0(0) }
                async let one: Int = field.completion("one") { _ in }
                await field.settle()
                async let two: Int = field.completion("two") { _ in }
                _ = try await (one, two)
            }
        }
        #expect(reason.contains(" Never called: one, two."), "\(reason)")
        #expect(
            reason.contains("The flow has not ended after 0 s, and nothing was left that could end it within 600 s.")
        )
    }

    @Test func `What a card of a script holds is not known, and nothing else is wrong with it`() async throws {
        try await withField(.script([])) { field in
            let error = #expect(throws: FieldError.self) { try field.tags[0].contents() }
            #expect(error?.code == .badTag)
            #expect(error?.reason == "What a card of a script holds can't be asked. Look at field.trace instead.")
            #expect(field.tags[0].before == nil)
        }
    }

    @Test func `What a tag holds that can't be read is said so`() async throws {
        try await withField("NTAG215", "MIFARE Classic 1K") { field in
            let empty = try await field.tags[0].message()
            #expect(empty == .empty)
            let classic = await #expect(throws: FieldError.self) { try await field.tags[1].message() }
            #expect(classic?.code == .badTag && classic?.reason.isEmpty == false)
            let contents = try field.tags[0].contents()
            #expect(field.tags[0].before == contents)
        }
    }
}

/// Runs tasks on a queue. A task that work of the queue resumes goes on at once, in the middle of that work.
private final class OneThread: TaskExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "one thread")

    init() { queue.setSpecific(key: Self.key, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if DispatchQueue.getSpecific(key: Self.key) == true { return run(job) }
        queue.async { [self] in run(job) }
    }

    private func run(_ job: UnownedJob) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
}
