// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import SessionTesting
import TagLink
import VirtualTags

/// A reader that finds the test's tags by itself, and may report when they come and go.
final class ScriptedReader: DiscoveringDriver {
    /// What one look for tags does and finds.
    struct Look: Sendable {
        let find: @Sendable (ScriptedReader) async throws(LinkError) -> [DiscoveredTag]

        static let nothing = Look { _ throws(LinkError) in [] }

        /// Finds these tags. Something may happen meanwhile.
        static func tags(_ tags: any VirtualTag..., meanwhile: @escaping @Sendable () -> Void = {}) -> Look {
            Look { reader throws(LinkError) in
                meanwhile()
                return try await reader.find(tags)
            }
        }

        static func failure(_ code: LinkError.Code, _ reason: String = "It failed.") -> Look {
            Look { _ throws(LinkError) in throw LinkError(code, reason) }
        }

        /// Waits until its task is cancelled, and then throws an error or finds nothing.
        static func waitsUntilCancelled(then error: LinkError? = nil, first: @escaping @Sendable () -> Void = {})
            -> Look
        {
            Look { _ throws(LinkError) in
                first()
                while !Task.isCancelled { await Task.yield() }
                if let error { throw error }
                return []
            }
        }

        /// Finds nothing, and reports meanwhile so many times that something may have come.
        static func changes(_ count: Int, then error: LinkError? = nil) -> Look {
            Look { reader throws(LinkError) in
                for _ in 0..<count { reader.tell() }
                if let error { throw error }
                return []
            }
        }
    }

    private struct State {
        var looks: [Look] = []
        var plans: [(Set<Technology>, [UInt16])] = []
        var log: [String] = []
        var handler: (@Sendable () -> Void)?
        var refusal: LinkError?
    }

    let name = "scripted"
    let technologies = Set(Technology.allCases)
    let executor: (any SerialExecutor & TaskExecutor)?
    private let field = VirtualField()
    private let tells: Bool
    private let state: Locked<State>
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    var statistics: LinkStatistics { field.statistics }

    /// - Parameters:
    ///   - looks: the result of each look; the last one repeats.
    ///   - tells: whether it reports arrivals and departures of tags.
    init(_ looks: [Look], tells: Bool = false, executor: (any SerialExecutor & TaskExecutor)? = nil) {
        state = Locked(State(looks: looks))
        self.tells = tells
        self.executor = executor
        (stream, continuation) = AsyncStream.makeStream()
    }

    var lookCount: Int { state.withLock { $0.plans.count } }
    /// What was done with it but looks: "select", "interrupt", "release", and what a test notes.
    var log: [String] { state.withLock { $0.log } }
    func count(_ line: String) -> Int { log.count { $0 == line } }
    func note(_ line: String) { state.withLock { $0.log.append(line) } }
    /// Whether a session or a watcher wants to know of changes.
    var isObserved: Bool { state.withLock { $0.handler != nil } }
    var lastPlan: (technologies: Set<Technology>, systemCodes: [UInt16])? { state.withLock { $0.plans.last } }

    /// Waits until it has looked so many times, or the test's time is over.
    func looks(_ count: Int) async {
        var changes = stream.makeAsyncIterator()
        while lookCount < count, await changes.next() != nil {}
    }

    /// Takes all tags out of the field, without a report.
    func removeTags() { field.removeAll() }

    /// Takes a tag out of the field, without a report.
    func remove(_ tag: any VirtualTag) { field.remove(tag) }

    /// Refuses to select tags for a reason, or selects them again.
    func refuse(_ reason: LinkError?) { state.withLock { $0.refusal = reason } }

    /// Reports that a tag may have come or gone.
    func tell() { state.withLock { $0.handler }?() }

    func find(_ tags: [any VirtualTag]) async throws(LinkError) -> [DiscoveredTag] {
        field.removeAll()
        for tag in tags { field.bring(tag) }
        return try await ActivatingReader(field).discover(technologies, systemCodes: [0x12FC])
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        guard tells else { return nil }
        state.withLock { $0.handler = handler }
        return PresenceObservation { [state] in state.withLock { $0.handler = nil } }
    }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        let look = state.withLock { state in
            state.plans.append((technologies, systemCodes))
            return state.looks.count > 1 ? state.looks.removeFirst() : state.looks[0]
        }
        defer { continuation.yield() }
        return try await look.find(self)
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
        if case .frames(let link) = tag.port { try await link.reactivate() }
        note("select")
    }

    func interrupt() { note("interrupt") }
    func release() async { note("release") }
}

/// A virtual field that can be unplugged, and reports when that happens. It does not tell arrivals apart.
final class PluggedReader: ForwardingField {
    private struct State {
        var failure: String?
        var handler: (@Sendable () -> Void)?
    }

    /// A link whose reader may be pulled out when it is to send a command.
    private final class Link: ForwardingLink {
        let target: any FrameLink
        private let pullsOutAt: Locked<UInt8?>

        init(_ target: any FrameLink, _ pullsOutAt: Locked<UInt8?>) {
            (self.target, self.pullsOutAt) = (target, pullsOutAt)
        }

        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
            if let command = pullsOutAt.withLock({ $0 }), frame.bytes.first == command {
                throw LinkError(.readerUnavailable, "It was pulled out.")
            }
            return try await target.transceive(frame, timeout: timeout)
        }
    }

    let virtual = VirtualField()
    var field: any FieldDriver { virtual }
    /// The command at which it is pulled out; nil while it stays.
    let pullsOutAt = Locked<UInt8?>(nil)
    /// Each switching of the field, and whether that was on.
    let carriers = Locked<[Bool]>([])
    private let state = Locked(State())

    init(_ tags: any VirtualTag...) { for tag in tags { virtual.bring(tag) } }

    func link(for technology: Technology) -> (any FrameLink)? {
        virtual.link(for: technology).map { Link($0, pullsOutAt) }
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { nil }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        if isOn, let failure = state.withLock({ $0.failure }) { throw LinkError(.readerUnavailable, failure) }
        carriers.withLock { $0.append(isOn) }
        virtual.switchCarrier(isOn)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        state.withLock { $0.handler = handler }
        return PresenceObservation { [self] in state.withLock { $0.handler = nil } }
    }

    /// Unplugs it for a reason, or plugs it in.
    func plug(_ failure: String?) {
        state.withLock { state in
            state.failure = failure
            return state.handler
        }?()
    }
}

/// A reader that finds tags itself, and tells their arrivals apart.
final class KnowingReader: ForwardingReader {
    private let field: VirtualField
    let base: ActivatingReader
    let name = "knowing"

    init(_ field: VirtualField) { (self.field, base) = (field, ActivatingReader(field)) }

    func arrival(of identifier: [UInt8]) -> UInt64? { field.arrival(of: identifier) }
}
