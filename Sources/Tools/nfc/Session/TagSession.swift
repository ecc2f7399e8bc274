// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime
import PCSCDriver
import TagLink
import TagProtocols
import TagTrace

/// A reader session that a command waits for: the scanning sheet is up, tags come as they are found, and Ctrl-C cancels.
struct TagSession {
    /// What happens in the session.
    typealias Event = ReaderSession.Event

    let environment: NFCEnvironment
    let session: ReaderSession
    /// What happens, in order; ends after ``ReaderSession/Event/ended(_:)``.
    let events: AsyncStream<Event>
    private let interrupt: ProcessSignals
    private let timeout: ScheduledEvent?

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - environment: reader, sheet and clock.
    ///   - prompt: what the sheet says.
    ///   - seconds: after how long to give up; nil for the session's own limit.
    ///   - plan: what to look for.
    init(
        environment: NFCEnvironment,
        prompt: String,
        seconds: Double?,
        plan: PollingPlan = .ndef
    ) throws(CommandFailure) {
        guard let session = ReaderSession(environment: environment, plan: plan) else {
            throw CommandFailure(.noReader, "no-reader", "There is no reader.")
        }
        self.environment = environment
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.session = session
        self.events = events
        // A sheet that owns the terminal hears Ctrl-C as a key; everywhere else it is this signal.
        interrupt = ProcessSignals([SIGINT]) { _ in session.fail(.userCanceled) }
        timeout = seconds.map { environment.clock.schedule(after: .seconds($0)) { session.fail(.timeout) } }
        session.alertMessage = prompt
        session.observe { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        session.begin()
    }

    /// Lets go of what the session kept, and waits until the reader is free and changed images are saved. Call it after
    /// the last event.
    func close() async {
        timeout?.cancel()
        interrupt.cancel()
        for _ in 0..<1000 where !environment.arbiter.isIdle { try? await Task.sleep(for: .milliseconds(1)) }
    }

    /// Fails when no tag could come because the reader is gone, does not answer within half a second, or has a card that
    /// another program has opened.
    func checkReader() async throws(CommandFailure) {
        if let reason = session.obstacle { throw .inUse(reason) }
        guard let driver = environment.driver else { return }
        let check = Task { () -> LinkError? in
            do throws(LinkError) {
                try await driver.prepare()
                guard let reader = driver as? PCSCReader, try await reader.isCardInUse() else { return nil }
                return LinkError(SmartCardError(.sharingViolation, "SCardConnect"))
            } catch {
                return error
            }
        }
        let limit = environment.clock.schedule(after: .milliseconds(500)) { check.cancel() }
        defer { limit.cancel() }
        guard let error = await check.value else { return }
        if error.code == .inUse { throw .inUse(error.reason) }
        guard error.code == .cancelled else { throw .unusable(driver, error.reason) }
        let silence = SmartCardError(.timeout, "SCardListReaders").reason
        throw .unusable(driver, driver is PCSCReader ? silence : Self.silentReader)
    }

    private static let silentReader = "The reader does not answer. Unplug it and plug it in again."

    /// Fails when the session left the recording that is its reader, could not be recorded to its end, or its images could
    /// not be saved; tells people when it ended before the recording does.
    func checkFiles() throws(CommandFailure) {
        if let failure = environment.tagSaver?.failure {
            throw CommandFailure(.refused, failure.code.description, failure.reason)
        }
        if let departure = environment.replay?.departure {
            throw CommandFailure(.refused, "recording-left", departure.reason)
        }
        if let failure = environment.recorder?.failure {
            throw CommandFailure(.refused, failure.code.description, failure.reason)
        }
        if let count = environment.replay?.remainingExchangeCount, count > 0 {
            StandardError.writeLine("The recording goes on: \(count) of its exchanges were not made.")
        }
    }

    /// Prints while the sheet may be up.
    func print(_ body: () -> Void) {
        if let sheet = environment.sheet as? TerminalSheet {
            sheet.interrupted(by: body)
        } else {
            body()
        }
    }
}

extension CommandFailure {
    convenience init(_ error: CommandError) {
        switch error {
        case .tag(let error): self.init(error)
        case .sessionInvalidated: self.init(.refused, "session-ended", "The session ended before the work was done.")
        case .notConnected, .tagUnavailable:
            self.init(.refused, "tag-lost", "The tag left before the work was done. Hold it still and try again.")
        }
    }

    /// Why a session ended by itself; nil when it ended because the work was done.
    ///
    /// - Parameters:
    ///   - end: how it ended.
    ///   - found: whether a tag was worked with.
    ///   - driver: the session's reader.
    convenience init?(_ end: SessionEnd, found: Bool, on driver: (any ReaderDriver)?) {
        switch end {
        case .firstMessageRead: return nil
        case .userCanceled: self.init(.cancelled, "cancelled", "Cancelled.")
        case .timeout where found: return nil
        case .timeout: self.init(.refused, "timeout", "No tag came in time. Hold one near the reader and try again.")
        case .systemBusy: self.init(.refused, "busy", "The reader is busy. Wait a moment and try again.")
        case .terminatedUnexpectedly(let reason): self.init(.unusable(driver, reason))
        case .appInBackground: self.init(.cancelled, "cancelled", "Cancelled.")
        case .unsupported(let reason): self.init(.noReader, "unsupported", reason)
        }
    }
}
