// SPDX-License-Identifier: Apache-2.0
import Dispatch
import PCSCDriver
import TagLink

/// A resource manager with readers of a test's own making.
final class ScriptedService: SmartCardLayer {
    /// A reader, and the card in it.
    struct Reader: Sendable {
        var name: String
        var card: Card?
        var isGone = false
        /// Whether another program has opened the card.
        var isInUse = false
        /// Whether the service takes the reader for empty until its card is reset.
        var isHidden = false
        /// Whether the service takes the reader's card for one that does not answer, until a card is reset.
        var isMute = false
        /// Counts the cards that came and went.
        var events: UInt32 = 0
    }

    /// A card: its ATR, and the reader's answers to commands.
    struct Card: Sendable {
        var answerToReset: [UInt8]
        var respond: @Sendable ([UInt8]) throws(SmartCardError) -> [UInt8]
    }

    struct State {
        var readers: [Reader] = []
        var isRunning = true
        /// Whether the service seems to run; nil where that is as it is.
        var isLikely: Bool?
        var contexts: Set<Int> = []
        var abandoned: Set<Int> = []
        var next = 1
        var open: [Int: String] = [:]
        var commands: [[UInt8]] = []
        var resets = 0
        var dispositions: [SmartCardDisposition] = []
        /// How often SCardConnect finds another program in its way.
        var sharingViolations = 0
        /// What SCardConnect fails with, where it does.
        var connectFailure: SmartCardError.Code?
        var looks = 0
        /// After how many looks another program frees the first reader.
        var looksInUse = 0
        /// What the next looks fail with, the last one first.
        var lookFailures: [SmartCardError.Code] = []
        var controls: [UInt32: [UInt8]] = [:]
        /// The calls to which the service does not answer.
        var hanging: Set<Call> = []
        /// The calls that wait for an answer.
        var waiting = 0
        /// Whether another program takes the readers when a call begins to wait for an answer.
        var isTakenMeanwhile = false
        /// How long each wait for the service would take, in milliseconds.
        var serviceWaits: [Int] = []
        /// What the reader's driver answers for attributes.
        var attributes: [UInt32: [UInt8]] = [:]
        /// What SCardGetAttrib fails with, where it does.
        var attributeFailure: SmartCardError.Code?
        /// How many cards come or go while SCardConnect opens the next one.
        var eventsAtConnect: UInt32 = 0
        /// The count of events when each card was opened.
        var opened: [Int: UInt32] = [:]
    }

    /// A call that can hang.
    enum Call: Sendable {
        case establish, release, connect
    }

    private let state = Locked(State())
    private let changes = DispatchSemaphore(value: 0)

    init(_ readers: [Reader] = []) {
        state.withLock { $0.readers = readers }
    }

    /// Changes the state, and wakes waiting calls.
    func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        changes.signal()
    }

    func look<Value: Sendable>(_ body: (State) -> Value) -> Value { state.withLock { body($0) } }

    /// The commands that reached the reader, in hexadecimal.
    var commands: [String] { look { $0.commands.map(\.hex) } }

    // MARK: SmartCardLayer

    var isServiceLikely: Bool { look { $0.isLikely ?? $0.isRunning } }

    func establishContext(_ cut: CancellationSignal) throws(SmartCardError) -> Int {
        if look({ $0.hanging.contains(.establish) }) {
            state.withLock { $0.waiting += 1 }
            defer { state.withLock { $0.waiting -= 1 } }
            try cut.sleep(milliseconds: 600_000)
        }
        return try state.withLock { state throws(SmartCardError) in
            guard state.isRunning else { throw SmartCardError(.noService, "SCardEstablishContext") }
            state.next += 1
            state.contexts.insert(state.next)
            return state.next
        }
    }

    func releaseContext(_ context: Int) {
        try? hang(.release, context)
        state.withLock { _ = $0.contexts.remove(context) }
    }

    /// Waits until the context is abandoned, where the call is one that hangs.
    private func hang(_ call: Call, _ context: Int) throws(SmartCardError) {
        guard look({ $0.hanging.contains(call) }) else { return }
        state.withLock { state in
            state.waiting += 1
            guard state.isTakenMeanwhile else { return }
            for index in state.readers.indices { state.readers[index].isInUse = true }
        }
        defer { state.withLock { $0.waiting -= 1 } }
        while !look({ $0.abandoned.contains(context) }) { changes.wait() }
        throw SmartCardError(.communicationError, "test")
    }

    func abandon(_ context: Int) {
        change { _ = $0.abandoned.insert(context) }
    }

    private func check(_ context: Int) throws(SmartCardError) {
        try state.withLock { state throws(SmartCardError) in
            guard state.isRunning, !state.abandoned.contains(context) else { throw SmartCardError(.noService, "test") }
        }
    }

    func listReaders(_ context: Int) throws(SmartCardError) -> [String] {
        try check(context)
        return look { $0.readers.map(\.name) }
    }

    private func flags(of name: String) -> SmartCardReaderState {
        look { state in
            guard let reader = state.readers.first(where: { $0.name == name }) else {
                // The plug and play reader counts.
                return SmartCardReaderState(
                    name,
                    flags: SmartCardReaderState.Flags(rawValue: UInt32(state.readers.count + 1) << 16)
                )
            }
            var flags = SmartCardReaderState.Flags(rawValue: reader.events << 16)
            let isEmpty = !reader.isMute && (reader.card == nil || reader.isHidden)
            flags.insert(reader.isGone ? .unavailable : isEmpty ? .empty : .present)
            if reader.isMute { flags.insert(.mute) }
            if reader.isInUse { flags.insert(.inUse) }
            return SmartCardReaderState(name, flags: flags, answerToReset: reader.card?.answerToReset ?? [])
        }
    }

    func waitForChange(
        _ context: Int,
        milliseconds: UInt32?,
        of states: [SmartCardReaderState]
    ) throws(SmartCardError) -> [SmartCardReaderState]? {
        let failure = state.withLock { state in
            state.looks += 1
            if state.looksInUse > 0 {
                state.looksInUse -= 1
                if state.looksInUse == 0 { state.readers[0].isInUse = false }
            }
            return state.lookFailures.popLast()
        }
        if let failure { throw SmartCardError(failure, "SCardGetStatusChange") }
        while true {
            try check(context)
            let now = states.map { flags(of: $0.reader) }
            if zip(now, states).contains(where: { $0.flags != $1.flags }) { return now }
            guard milliseconds != 0 else { return nil }
            if let milliseconds {
                if changes.wait(timeout: .now() + .milliseconds(Int(milliseconds))) == .timedOut { return nil }
            } else {
                changes.wait()
            }
        }
    }

    func waitForService(milliseconds: Int, _ cut: CancellationSignal) {
        state.withLock { $0.serviceWaits.append(milliseconds) }
        try? cut.wait(endedBy: { [changes] in _ = changes.signal() }) {
            _ = changes.wait(timeout: .now() + .milliseconds(milliseconds))
        }
    }

    func connect(_ context: Int, reader: String, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle {
        try check(context)
        try hang(.connect, context)
        return try state.withLock { state throws(SmartCardError) in
            if state.sharingViolations > 0 {
                state.sharingViolations -= 1
                throw SmartCardError(.sharingViolation, "SCardConnect")
            }
            if let failure = state.connectFailure { throw SmartCardError(failure, "SCardConnect") }
            guard let index = state.readers.firstIndex(where: { $0.name == reader }) else {
                throw SmartCardError(.unknownReader, "SCardConnect")
            }
            let found = state.readers[index]
            guard share == .direct || !found.isMute else { throw SmartCardError(.unresponsiveCard, "SCardConnect") }
            let hasCard = share == .direct || found.card != nil && !found.isHidden
            guard hasCard else { throw SmartCardError(.noSmartcard, "SCardConnect") }
            state.next += 1
            state.open[state.next] = reader
            state.readers[index].events += state.eventsAtConnect
            state.eventsAtConnect = 0
            state.opened[state.next] = state.readers[index].events
            return SmartCardHandle(handle: state.next, answerToReset: found.card?.answerToReset ?? [])
        }
    }

    func reset(
        _ card: SmartCardHandle,
        _ share: SmartCardShare,
        _ disposition: SmartCardDisposition
    ) throws(SmartCardError) -> SmartCardHandle {
        state.withLock { state in
            state.resets += 1
            if disposition == .unpower { state.dispositions.append(disposition) }
        }
        let present = try self.card(of: card, orNone: .noSmartcard)
        state.withLock { state in
            for index in state.readers.indices where state.readers[index].name == state.open[card.handle] {
                state.readers[index].isHidden = false
                state.readers[index].isMute = false
            }
        }
        return SmartCardHandle(handle: card.handle, answerToReset: present.answerToReset)
    }

    func disconnect(_ card: SmartCardHandle, _ disposition: SmartCardDisposition) {
        state.withLock { state in
            state.open[card.handle] = nil
            state.dispositions.append(disposition)
        }
    }

    private func card(
        of handle: SmartCardHandle,
        orNone missing: SmartCardError.Code = .removedCard
    ) throws(SmartCardError) -> Card {
        try state.withLock { state throws(SmartCardError) in
            guard state.isRunning, let name = state.open[handle.handle] else {
                throw SmartCardError(.invalidHandle, "test")
            }
            guard let reader = state.readers.first(where: { $0.name == name }), !reader.isGone else {
                throw SmartCardError(.readerUnavailable, "test")
            }
            guard let card = reader.card else { throw SmartCardError(missing, "test") }
            return card
        }
    }

    func transmit(_ card: SmartCardHandle, _ command: [UInt8]) throws(SmartCardError) -> [UInt8] {
        let card = try self.card(of: card)
        state.withLock { $0.commands.append(command) }
        return try card.respond(command)
    }

    func attribute(_ card: SmartCardHandle, _ identifier: UInt32) throws(SmartCardError) -> [UInt8] {
        _ = try self.card(of: card)
        // The opened card has left, even if another card is there now.
        let events = look { state in state.readers.first { $0.name == state.open[card.handle] }?.events }
        guard events == look({ $0.opened[card.handle] }) else { throw SmartCardError(.removedCard, "SCardGetAttrib") }
        if let failure = look(\.attributeFailure) { throw SmartCardError(failure, "SCardGetAttrib") }
        guard let value = look({ $0.attributes[identifier] }) else {
            throw SmartCardError(.unsupportedFeature, "SCardGetAttrib")
        }
        return value
    }

    func control(_ card: SmartCardHandle, code: UInt32, _ data: [UInt8]) throws(SmartCardError) -> [UInt8] {
        guard let answer = look({ $0.controls[code] }) else {
            throw SmartCardError(.unsupportedFeature, "SCardControl")
        }
        return answer
    }

    /// Blocks until somebody abandons a context, as a call does to which the service does not answer.
    func hang() throws(SmartCardError) {
        while look({ $0.abandoned.isEmpty }) { changes.wait() }
        throw SmartCardError(.communicationError, "SCardTransmit")
    }
}
