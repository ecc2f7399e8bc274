// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

/// The field and the session of one scenario. Scenarios use real time: each wait ends when the expected event happens,
/// or when ``ReaderSetup/patience`` is over.
final class ConformanceStage: Sendable {
    private struct State {
        var session: ReaderSession?
        var found: [[ConnectableTag]] = []
        var end: SessionEnd?
    }

    let setup: ReaderSetup
    private let state = Locked(State())

    init(_ setup: ReaderSetup) {
        self.setup = setup
        setup.field.arm(FaultPlan())
        setup.field.removeAll()
    }

    func clear() async {
        setup.field.arm(FaultPlan())
        setup.field.removeAll()
        await endSession()
    }

    // MARK: The session

    func scan(_ plan: PollingPlan = .ndef) async throws -> [ConnectableTag] {
        await endSession()
        let environment = setup.makeEnvironment()
        let sessionLimits = SessionLimits(lasting: setup.patience * 10)
        guard let session = ReaderSession(environment: environment, plan: plan, limits: sessionLimits) else {
            throw ConformanceFailure(description: "The set-up has no reader.")
        }
        state.withLock { $0 = State(session: session) }
        session.observe { [weak self] event in
            self?.state.withLock { state in
                switch event {
                case .becameActive: break
                case .detected(let tags): state.found.append(tags)
                case .ended(let end): state.end = end
                }
            }
        }
        session.begin()
        return try await nextTags()
    }

    func scanOne(_ plan: PollingPlan = .ndef) async throws -> ConnectableTag { try await one(of: scan(plan)) }

    /// Begins a session without cached data, and connects to the only tag that it finds.
    func connectOne(_ plan: PollingPlan = .ndef) async throws -> ConnectableTag {
        let tag = try await scanOne(plan)
        try await connect(to: tag)
        return tag
    }

    func one(of tags: [ConnectableTag]) throws -> ConnectableTag {
        try expect(tags.count == 1, "One tag is in the field, but the reader found \(tags.count).")
        return tags[0]
    }

    func nextTags() async throws -> [ConnectableTag] {
        let end = ContinuousClock.now + setup.patience
        while ContinuousClock.now < end {
            let (found, ended) = state.withLock { state in
                (state.found.isEmpty ? nil : state.found.removeFirst(), state.end)
            }
            if let found { return found }
            if let ended { throw ConformanceFailure(description: "The session ended: \(ended).") }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw ConformanceFailure(description: "The reader did not find the tag.", isLimit: true)
    }

    func restartPolling() { state.withLock { $0.session }?.restartPolling() }

    private func endSession() async {
        guard let session = state.withLock({ $0.session }) else { return }
        session.invalidate()
        let end = ContinuousClock.now + setup.patience
        while state.withLock({ $0.end == nil }), ContinuousClock.now < end {
            // Sleeps in another task, because a sleep in a cancelled task ends at once and would starve the session.
            _ = await Task { try? await Task.sleep(for: .milliseconds(1)) }.value
        }
        state.withLock { $0 = State() }
    }

    // MARK: Work with a tag

    func connect(to tag: ConnectableTag) async throws {
        guard let session = state.withLock({ $0.session }) else { return }
        let result = await withCompletion { session.connect(to: tag, completion: $0) }
        if case .failure(let error) = result { throw Self.failure(error) }
    }

    /// Connects to a tag repeatedly until this fails because the tag has left. A reader may notice the departure late.
    func connectUntilLost(_ tag: ConnectableTag) async throws {
        guard let session = state.withLock({ $0.session }) else { return }
        let end = ContinuousClock.now + setup.patience
        while ContinuousClock.now < end {
            switch await withCompletion({ session.connect(to: tag, completion: $0) }) {
            case .success: try await Task.sleep(for: .milliseconds(1))
            case .failure(.tagUnavailable): return
            case .failure(.tag(let error)) where error.code == .tagLost: return
            case .failure(let error): throw Self.failure(error)
            }
        }
        throw ConformanceFailure(description: "The reader did not notice that the tag has left.")
    }

    /// Runs a procedure on the connected tag.
    @discardableResult
    func perform<Value: Sendable>(
        on tag: ConnectableTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
    ) async throws -> Value {
        do {
            return try await result(on: tag, procedure).get()
        } catch {
            throw Self.failure(error)
        }
    }

    func detect(on tag: ConnectableTag) async throws -> NDEFDetection {
        try await perform(on: tag) { tag throws(TagError) in try await tag.detectNDEF() }
    }

    func read(from tag: ConnectableTag) async throws -> [UInt8] {
        try await perform(on: tag) { tag throws(TagError) in try await tag.readNDEF() }
    }

    func write(_ message: [UInt8], to tag: ConnectableTag) async throws {
        try await perform(on: tag) { tag throws(TagError) in
            _ = try await tag.detectNDEF()
            try await tag.writeNDEF(message)
        }
    }

    /// Runs a procedure on the connected tag. Returns its error code; nil when the procedure succeeds.
    func error<Value: Sendable>(
        on tag: ConnectableTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
    ) async -> TagError.Code? {
        guard case .failure(.tag(let error)) = await result(on: tag, procedure) else { return nil }
        return error.code
    }

    private func result<Value: Sendable>(
        on tag: ConnectableTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
    ) async -> Result<Value, CommandError> {
        guard let session = state.withLock({ $0.session }) else { return .failure(.sessionInvalidated) }
        return await withCompletion { done in
            session.perform(on: tag, { tag throws(TagError) in try await procedure(tag.ndef) }, completion: done)
        }
    }

    func send(_ bytes: [UInt8], to tag: ConnectableTag) async throws -> [UInt8] {
        guard let session = state.withLock({ $0.session }) else { return [] }
        let packet = TagPacket(bytes, answer: .within(.milliseconds(20)), deliversRefusals: true)
        do {
            return try await withCompletion { done in
                session.perform(on: tag, { tag throws(TagError) in try await tag.send(packet) }, completion: done)
            }.get()
        } catch {
            throw Self.failure(error)
        }
    }

    /// Sends a packet of the app to the connected tag, and checks the answer.
    ///
    /// - Parameter name: the packet's name in the text of a failure.
    func send(
        _ name: String,
        _ bytes: [UInt8],
        to tag: ConnectableTag,
        expecting isExpected: ([UInt8]) -> Bool
    ) async throws {
        let answer = try await send(bytes, to: tag)
        try expect(isExpected(answer), "\(name) was answered with \(answer).")
    }

    func send(_ name: String, _ bytes: [UInt8], to tag: ConnectableTag, expecting answer: [UInt8]) async throws {
        try await send(name, bytes, to: tag) { $0 == answer }
    }

    private static func failure(_ error: any Error) -> any Error {
        if case .tag(let error)? = error as? CommandError {
            return ConformanceFailure(description: error.description, isLimit: error.code == .unsupported)
        }
        return ConformanceFailure(description: "\(error)")
    }

    func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(description: what()) }
    }
}

/// A tag of the conformance suite, and the values that a reader has to report for it.
struct ConformanceTag: Sendable {
    var name: String
    var technology: Technology
    var type: Int
    var product: String
    var uid: [UInt8]
    /// The capacity of the empty tag.
    var capacity: Int
    var needs: [ReaderCapability]

    init(_ name: String, _ technology: Technology, type: Int, _ product: String, uid: [UInt8], capacity: Int) {
        self.name = name
        self.technology = technology
        self.type = type
        self.product = product
        self.uid = uid
        self.capacity = capacity
        needs = [.technology(technology)] + (type == 1 ? [.type1] : [])
    }

    static let all = [
        ConformanceTag("Type 1", .nfcA, type: 1, "Topaz 512", uid: [1, 2, 3, 4, 5, 6, 0x25], capacity: 462),
        ConformanceTag("Type 2", .nfcA, type: 2, "NTAG213", uid: [4, 1, 2, 3, 4, 5, 6], capacity: 137),
        ConformanceTag("Type 3", .nfcF, type: 3, "FeliCa Lite-S", uid: [2, 0xFE, 1, 2, 3, 4, 5, 6], capacity: 208),
        ConformanceTag("Type 4A", .nfcA, type: 4, "generic Type 4", uid: [4, 8, 9, 10, 11, 12, 13], capacity: 1022),
        ConformanceTag("Type 4B", .nfcB, type: 4, "generic Type 4B", uid: [1, 2, 3, 4], capacity: 1022),
        ConformanceTag(
            "DESFire",
            .nfcA,
            type: 4,
            "DESFire EV1 2K",
            uid: [4, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66],
            capacity: 2046
        ),
        ConformanceTag("Type 5", .nfcV, type: 5, "ICODE SLIX", uid: [0xE0, 4, 1, 0x10, 1, 2, 3, 4], capacity: 102),
    ]

    /// The contents of a new tag: formatted and empty.
    ///
    /// - Parameter last: replaces the last byte of the identifier; nil to keep it.
    func contents(last: UInt8? = nil) throws -> TagContents {
        var uid = uid
        if let last { uid[identifier.count - 1] = last }
        guard let product = TagProduct(named: product) else {
            throw ConformanceFailure(description: "The product \(product) does not exist.")
        }
        return product.blank(uid: uid)
    }

    /// The identifier that the tag reports: a Type 1 tag reports only four bytes of its UID.
    var identifier: [UInt8] { type == 1 ? Array(uid.prefix(4)) : uid }

    /// Whether a reader can lock the tag. Changing the capability container of a DESFire would need a key.
    var canLock: Bool { name != "DESFire" }

    func make(last: UInt8? = nil) throws -> any VirtualTag { try contents(last: last).makeTag() }

    /// A tag of the same kind that is not formatted for NDEF.
    func makeUnformatted() throws -> any VirtualTag {
        switch try contents() {
        case .type1(var contents):
            contents.memory.replaceSubrange(8..<12, with: [0, 0, 0, 0])
            return TagContents.type1(contents).makeTag()
        case .type2(var contents):
            contents.memory.replaceSubrange(12..<16, with: [0, 0, 0, 0])
            return TagContents.type2(contents).makeTag()
        case .type3(.liteS(var contents)):
            contents.userMemory.replaceSubrange(0..<16, with: [UInt8](repeating: 0, count: 16))
            return TagContents.type3(.liteS(contents)).makeTag()
        case .type4(let contents): return VirtualType4Tag(card: ApplicationCard([]), frontEnd: contents.frontEnd)
        case .type5(var contents):
            contents.memory.replaceSubrange(0..<4, with: [0, 0, 0, 0])
            return TagContents.type5(contents).makeTag()
        default: throw ConformanceFailure(description: "A \(name) can't be created without a format.")
        }
    }
}
