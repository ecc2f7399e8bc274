// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

/// Checks the defaults of a driver or link that implements only the requirements.
@Suite struct `What a driver leaves out` {
    private final class Link: FrameLink, APDULink {
        let technology: Technology
        let statistics: LinkStatistics
        let (maximumFrameLength, maximumCommandLength, maximumResponseLength) = (64, 261, 258)

        init(_ technology: Technology, exchanges: Int) {
            self.technology = technology
            statistics = LinkStatistics(exchanges: exchanges)
        }

        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame { frame }
        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] { apdu }
        func isPresent() async -> Bool { true }
        var countsAir: Bool { true }
    }

    private final class CommandLink: APDULink {
        let (maximumCommandLength, maximumResponseLength) = (261, 258)
        let statistics = LinkStatistics.zero
        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] { apdu }
        func isPresent() async -> Bool { true }
    }

    private final class PlainLink: FrameLink {
        let (technology, maximumFrameLength, statistics) = (Technology.nfcF, 64, LinkStatistics.zero)
        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame { frame }
    }

    private final class Field: FieldDriver {
        let name = "a field"
        let technologies: Set<Technology> = [.nfcA, .nfcV]
        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
        func link(for technology: Technology) -> (any FrameLink)? {
            switch technology {
            case .nfcA: Link(.nfcA, exchanges: 3)
            case .nfcV: Link(.nfcV, exchanges: 40)
            default: nil
            }
        }
        func setCarrier(_ isOn: Bool) async throws(LinkError) {}
    }

    private final class Discovering: DiscoveringDriver {
        let name = "a discovering reader"
        let technologies: Set<Technology> = [.nfcA]
        let statistics = LinkStatistics.zero
        let arrivals = Locked<[[UInt8]: UInt64]>([:])
        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
        func arrival(of identifier: [UInt8]) -> UInt64? { arrivals.withLock { $0[identifier] } }
        func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] { [] }
        func select(_ tag: DiscoveredTag) async throws(LinkError) {}
        func release() async {}
    }

    @Test func `A field's statistics are those of all its links`() async throws {
        let field = Field()
        #expect(field.statistics.exchanges == 43)
        #expect(field.wasThere)
        #expect(field.executor == nil)
        #expect(field.arrival(of: [1]) == nil)
        #expect(field.reportsPresenceInTime)
        try await field.prepare()
    }

    @Test func `A link for frames counts what is on the air, one for commands does not`() {
        #expect(PlainLink().countsAir)
        #expect(!CommandLink().countsAir)
        // A block of 256 bytes has its length, control byte and checksum in it.
        #expect(CommandLink().singleBlockCommandLength == 253)
        #expect(CommandLink().singleBlockResponseLength == 253)
        CommandLink().wasActivated()
    }

    @Test func `A tag is still near as long as its arrival is the same`() async {
        let reader = Discovering()
        #expect(reader.tellsActivation)
        reader.interrupt()
        reader.arrivals.withLock { $0[[1, 2]] = 7 }
        #expect(await reader.isStillNear([1, 2], since: 7))
        #expect(await !reader.isStillNear([1, 2], since: 6))
        #expect(await !reader.isStillNear([3], since: 7))
    }

    @Test func `An observation ends when nothing holds it`() {
        let ended = Locked(0)
        var observation: PresenceObservation? = PresenceObservation { ended.withLock { $0 += 1 } }
        #expect(observation != nil && ended.withLock { $0 } == 0)
        observation = nil
        #expect(ended.withLock { $0 } == 1)
    }

    @Test func `A tag is of the technology of what it said of itself`() {
        #expect(DiscoveredTag.Identity.nfcA(atqa: 4, sak: nil, uid: []).technology == .nfcA)
        #expect(DiscoveredTag.Identity.nfcB(answer: []).technology == .nfcB)
        #expect(DiscoveredTag.Identity.nfcF(idm: [], pmm: [], systemCode: nil).technology == .nfcF)
        #expect(DiscoveredTag.Identity.nfcV(uid: [], dsfid: 0).technology == .nfcV)
    }
}

@Suite struct `Errors of a link` {
    static let codes: [(LinkError.Code, String)] = [
        (.timeout, "timeout"),
        (.tagRemoved, "tagRemoved"),
        (.transmission, "transmission"),
        (.collision, "collision"),
        (.frameTooLong, "frameTooLong"),
        (.readerUnavailable, "readerUnavailable"),
        (.cancelled, "cancelled"),
        (.unsupported, "unsupported"),
        (.protocolViolation, "protocolViolation"),
        (.inUse, "inUse"),
    ]

    @Test(arguments: codes)
    func `have a name in a log, and are equal by code`(_ code: LinkError.Code, _ name: String) {
        let error = LinkError(code, "a reason")
        #expect(error.description == "\(name): a reason")
        #expect(error.reason == "a reason" && error.collision == nil)
        #expect(Set(Self.codes.map { LinkError($0.0, "") }).count == Self.codes.count)
        #expect(error == LinkError(code, "another") && Set([error, LinkError(code, "another")]).count == 1)
    }

    @Test func `of a collision have its place`() {
        let error = LinkError(.collision, "", collision: LinkError.Collision(bitIndex: 9, bits: [0x88, 1]))
        #expect(error.collision?.bitIndex == 9 && error.collision?.bits == [0x88, 1])
    }
}

@Suite struct `A lock` {
    @Test(.ownThreads) func `is held by one thread, once`() async {
        let lock = Locked(1)
        #expect(
            lock.withLock {
                $0 += 1; return $0
            } == 2
        )
        await #expect(processExitsWith: .failure) {
            let lock = Locked(1)
            lock.withLock { _ in lock.withLock { $0 = 2 } }
        }
    }

    @Test func `is free again after an error`() {
        let lock = Locked(1)
        #expect(throws: LinkError.self) {
            try lock.withLock { (_: inout Int) throws(LinkError) in throw LinkError(.cancelled, "") }
        }
        #expect(lock.withLock { $0 } == 1)
    }

    @Test func `hands a value over to a task from whatever thread it comes`() async {
        #expect(await handedOver { $0(5) } == 5)
        #expect(await handedOver { done in Task.detached { done("later") } } == "later")
    }

    /// Runs a task's code at once, in the middle of the work that resumes the task.
    private final class AtOnce: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test func `hands a value over before the task goes on with it`() async {
        let (executor, handler) = (AtOnce(), Locked<(@Sendable (Int) -> Void)?>(nil))
        let task = Task(executorPreference: executor) {
            await handedOver { (done: @escaping @Sendable (Int) -> Void) in handler.withLock { $0 = done } }
        }
        // The task waits by now, and goes on within this call.
        let done = handler.withLock { $0 }
        done?(7)
        #expect(await task.value == 7)
        withExtendedLifetime(executor) {}
    }

    @Test func `guards a value that many tasks count`() async {
        let lock = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1000 { lock.withLock { $0 += 1 } } } }
        }
        #expect(lock.withLock { $0 } == 8000)
    }
}
