// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

/// What a driver and a link around another one pass on. The inner ones differ from every default.
@Suite("A driver around another one")
struct ForwardingTests {
    private final class Link: FrameLink {
        let (technology, maximumFrameLength) = (Technology.nfcF, 77)
        let statistics = LinkStatistics(exchanges: 5)
        var countsAir: Bool { false }
        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame { frame }
    }

    /// Runs nothing.
    private final class OwnExecutor: SerialExecutor, TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {}
    }

    private final class Reader: FieldDriver {
        let name = "inner"
        let ownExecutor = OwnExecutor()
        let technologies: Set<Technology> = [.nfcF]
        let ownLink = Link()
        let carrier = Locked<[Bool]>([])
        var statistics: LinkStatistics { LinkStatistics(exchanges: 9) }
        var executor: (any SerialExecutor & TaskExecutor)? { ownExecutor }
        var wasThere: Bool { false }
        var reportsPresenceInTime: Bool { false }
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

    @Test("has what that one has, and calls it")
    func driver() async throws {
        let inner = Reader()
        let around: any FieldDriver = Around(inner)
        #expect(around.name == "inner" && around.technologies == [.nfcF])
        // Else the commands of a reader would run on threads that it does not know.
        #expect(around.executor === inner.ownExecutor)
        #expect(!around.wasThere && !around.reportsPresenceInTime)
        #expect(around.statistics.exchanges == 9)
        #expect(around.link(for: .nfcF) === inner.ownLink && around.link(for: .nfcA) == nil)
        #expect(around.arrival(of: [4]) == 7 && around.arrival(of: [5]) == nil)
        // The reader knows more than the number of the arrival.
        #expect(await around.isStillNear([4], since: 8))
        #expect(await !around.isStillNear([4], since: 7))
        let calls = Locked(0)
        let observation = around.observePresence { calls.withLock { $0 += 1 } }
        #expect(observation != nil && calls.withLock { $0 } == 1)
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await around.prepare() }
        try await around.setCarrier(true)
        try await around.setCarrier(false)
        #expect(inner.carrier.withLock { $0 } == [true, false])
    }

    @Test("has the limits and the counts of that one's link")
    func link() async throws {
        let link: any FrameLink = LinkAround(Link())
        #expect(link.technology == .nfcF && link.maximumFrameLength == 77)
        #expect(link.statistics.exchanges == 5 && !link.countsAir)
        #expect(try await link.transceive(Frame([1, 2]), timeout: .zero) == Frame([1, 2]))
    }
}
