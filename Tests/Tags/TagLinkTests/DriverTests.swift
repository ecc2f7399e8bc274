// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

/// The defaults of a driver and a link, what one around another passes on, and their errors.
struct DriverTests {
    private final class CommandLink: APDULink {
        let (maximumCommandLength, maximumResponseLength) = (261, 258)
        let statistics = LinkStatistics.zero
        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] { apdu }
        func isPresent() async -> Bool { true }
    }

    private final class Link: FrameLink {
        let (technology, maximumFrameLength) = (Technology.nfcF, 77)
        let statistics: LinkStatistics
        init(exchanges: Int) { statistics = LinkStatistics(exchanges: exchanges) }
        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame { frame }
    }

    /// A driver with the requirements alone.
    private final class Plain: FieldDriver {
        let name = "plain"
        let technologies: Set<Technology> = [.nfcA, .nfcV]
        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
        func link(for technology: Technology) -> (any FrameLink)? {
            technologies.contains(technology) ? Link(exchanges: technology == .nfcA ? 3 : 40) : nil
        }
        func setCarrier(_ isOn: Bool) async throws(LinkError) {}
    }

    private final class Discovering: DiscoveringDriver {
        let name = "discovering"
        let technologies: Set<Technology> = [.nfcA]
        let statistics = LinkStatistics.zero
        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
        func arrival(of identifier: [UInt8]) -> UInt64? { identifier == [1, 2] ? 7 : nil }
        func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] { [] }
        func select(_ tag: DiscoveredTag) async throws(LinkError) {}
        func release() async {}
    }

    @Test func `driver and links with only the required members: all other members have their defaults`() async throws {
        let field = Plain()
        #expect(field.statistics.exchanges == 43 && field.wasAvailable && field.executor == nil)
        #expect(field.arrival(of: [1]) == nil && field.reportsPresenceInTime && field.unrecorded === field)
        try await field.prepare()
        #expect(Link(exchanges: 0).countsAir && !CommandLink().countsAir)
        // A block of 256 bytes has its length, control byte and checksum in it.
        #expect(CommandLink().singleBlockCommandLength == 253 && CommandLink().singleBlockResponseLength == 253)
        CommandLink().wasActivated()
        let reader = Discovering()
        #expect(reader.reportsActivationData)
        reader.interrupt()
        // A tag is near as long as its arrival is the same.
        #expect(await reader.isStillNear([1, 2], since: 7))
        #expect(await !reader.isStillNear([1, 2], since: 6))
        #expect(await !reader.isStillNear([3], since: 7))
    }

    /// Runs nothing.
    private final class OwnExecutor: SerialExecutor, TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {}
    }

    /// A link and a driver that differ from every default.
    private final class OwnLink: FrameLink {
        let (technology, maximumFrameLength, countsAir) = (Technology.nfcF, 77, false)
        let statistics = LinkStatistics(exchanges: 5)
        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame { frame }
    }

    private final class Own: FieldDriver {
        let (name, wasAvailable, reportsPresenceInTime) = ("inner", false, false)
        let technologies: Set<Technology> = [.nfcF]
        let statistics = LinkStatistics(exchanges: 9)
        let (ownLink, ownExecutor, carrier) = (OwnLink(), OwnExecutor(), Locked<[Bool]>([]))
        var executor: (any SerialExecutor & TaskExecutor)? { ownExecutor }
        func prepare() async throws(LinkError) { throw LinkError(.readerUnavailable, "It is gone.") }
        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
            handler()
            return PresenceObservation {}
        }
        func arrival(of identifier: [UInt8]) -> UInt64? { identifier == [4] ? 7 : nil }
        func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool { arrival == 8 }
        func link(for technology: Technology) -> (any FrameLink)? { technology == .nfcF ? ownLink : nil }
        func setCarrier(_ isOn: Bool) async throws(LinkError) { carrier.withLock { $0.append(isOn) } }
    }

    private final class Around: ForwardingField {
        let field: any FieldDriver
        init(_ field: any FieldDriver) { self.field = field }
    }

    private final class LinkAround: ForwardingLink {
        let target: any FrameLink
        init(_ target: any FrameLink) { self.target = target }
        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
            try await target.transceive(frame, timeout: timeout)
        }
    }

    @Test func `driver and link that wrap others: every member is forwarded`() async throws {
        let inner = Own()
        let around: any FieldDriver = Around(inner)
        #expect(around.name == "inner" && around.technologies == [.nfcF] && around.statistics.exchanges == 9)
        // Else the commands of a reader would run on threads that it does not know.
        #expect(around.executor === inner.ownExecutor && !around.wasAvailable && !around.reportsPresenceInTime)
        #expect(around.link(for: .nfcF) === inner.ownLink && around.link(for: .nfcA) == nil)
        #expect(around.arrival(of: [4]) == 7 && around.arrival(of: [5]) == nil)
        // The reader knows more than the number of the arrival.
        #expect(await around.isStillNear([4], since: 8))
        #expect(await !around.isStillNear([4], since: 7))
        let calls = Locked(0)
        let observation = around.observePresence { calls.withLock { $0 += 1 } }
        #expect(observation != nil && calls.withLock { $0 } == 1)
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await around.prepare() }
        for isOn in [true, false] { try await around.setCarrier(isOn) }
        #expect(inner.carrier.withLock { $0 } == [true, false])
        let link: any FrameLink = LinkAround(OwnLink())
        #expect(link.technology == .nfcF && link.maximumFrameLength == 77)
        #expect(link.statistics.exchanges == 5 && !link.countsAir)
        #expect(try await link.transceive(Frame([1, 2]), timeout: .zero) == Frame([1, 2]))
    }

    @Test func `PresenceObservation: ends when its last reference is released`() {
        let ended = Locked(0)
        var observation: PresenceObservation? = PresenceObservation { ended.withLock { $0 += 1 } }
        #expect(observation != nil && ended.withLock { $0 } == 0)
        observation = nil
        #expect(ended.withLock { $0 } == 1)
    }
}
