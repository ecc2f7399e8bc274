// SPDX-License-Identifier: Apache-2.0

/// A reader: the device that generates the field.
///
/// A driver conforms to ``FieldDriver`` when the host sends every frame itself, including activation. It conforms to
/// ``DiscoveringDriver`` when the reader finds and activates tags itself.
public protocol ReaderDriver: AnyObject, Sendable {
    /// The reader's usual name, such as `virtual` or `ACS ACR122U PICC Interface 00 00`.
    var name: String { get }

    /// The technologies that the reader can poll for.
    var technologies: Set<Technology> { get }

    /// The counts of the reader's links since they were created.
    var statistics: LinkStatistics { get }

    /// The thread on which the driver waits for its hardware. Nil when it has no such thread, or doesn't share it.
    ///
    /// A task that runs on it saves two thread switches in every exchange.
    var executor: (any SerialExecutor & TaskExecutor)? { get }

    /// Opens the reader now instead of at its first use. Afterwards `name` is the device's own name.
    ///
    /// - Throws: ``LinkError`` with `readerUnavailable` and a reason that explains what to do, or `cancelled`.
    func prepare() async throws(LinkError)

    /// Whether the reader was usable at any time since the driver was created. If it is missing now, it was unplugged.
    var wasAvailable: Bool { get }

    /// Calls `handler` whenever a tag may have arrived or left, until the returned observation is released.
    ///
    /// - Parameter handler: called on any thread, never while the driver holds a lock.
    /// - Returns: the observation; nil when the reader can't report presence and has to be polled.
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation?

    /// Returns the number of a tag's arrival, as found by the last look. The number changes when the tag was taken away
    /// and brought back since the look before, even for a moment.
    ///
    /// - Parameter identifier: the UID, PUPI or IDm of a tag that was found.
    /// - Returns: the number; nil when the tag is gone, or when the reader can't distinguish arrivals.
    func arrival(of identifier: [UInt8]) -> UInt64?

    /// Returns whether a tag has stayed near since it arrived, as far as the reader knows. Sends nothing to the tag.
    ///
    /// - Parameters:
    ///   - identifier: the UID, PUPI or IDm of a tag that the last look found.
    ///   - arrival: the number that ``arrival(of:)`` returned when the tag was found.
    /// - Returns: false when the tag has left, even if it has come back since.
    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool

    /// The reader behind a recording wrapper, for calls that must not be recorded. It is the reader itself when it is not
    /// being recorded.
    var unrecorded: any ReaderDriver { get }

    /// Whether the handler of ``observePresence(_:)`` is called at the moment when a tag arrives or leaves. False for the
    /// replay of a recording, which may call the handler earlier, as soon as nothing else is left to do.
    var reportsPresenceInTime: Bool { get }
}

extension ReaderDriver {
    /// The reader itself: the default is for a reader that is not a recording wrapper.
    public var unrecorded: any ReaderDriver { self }

    /// True: the default is for a reader of real or virtual tags.
    public var reportsPresenceInTime: Bool { true }

    /// Nil: the default is for a reader that can't distinguish arrivals.
    public func arrival(of identifier: [UInt8]) -> UInt64? { nil }

    /// Compares the arrivals: the default is for a reader whose ``arrival(of:)`` always reflects which tags are near
    /// now.
    public func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        self.arrival(of: identifier) == arrival
    }

    /// Does nothing: the default is for a reader that is open as long as its driver exists.
    public func prepare() async throws(LinkError) {}

    /// True: the default is for a reader whose driver is only created after the reader was found.
    public var wasAvailable: Bool { true }

    /// Nil: the default shares no thread.
    public var executor: (any SerialExecutor & TaskExecutor)? { nil }
}

/// A reader whose host sends every frame, starting with the first REQA.
public protocol FieldDriver: ReaderDriver {
    /// Returns the link to the tags in the field, in one technology. Always the same object for a technology.
    ///
    /// - Returns: the link; nil when the reader doesn't support the technology.
    func link(for technology: Technology) -> (any FrameLink)?

    /// Turns the carrier on or off. When it is off, tags lose power and with it their state.
    func setCarrier(_ isOn: Bool) async throws(LinkError)
}

extension FieldDriver {
    /// The sum of the counts of all technologies' links.
    public var statistics: LinkStatistics {
        Technology.allCases.reduce(.zero) { $0 + (link(for: $1)?.statistics ?? .zero) }
    }
}

/// A reader that finds and activates tags itself, such as a PC/SC reader or a PN532.
///
/// Make one call at a time. A driver that has to wait for its hardware does so on its own threads.
public protocol DiscoveringDriver: ReaderDriver {
    /// Whether every value of a ``DiscoveredTag/Identity`` came from the tag. False when the reader only reports an
    /// identifier and the kind of tag, so that ATQA, SAK and DSFID were derived from these.
    var reportsActivationData: Bool { get }

    /// Looks for tags once. Tags that were found before become invalid; their links throw `tagRemoved`.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to look for. Others are skipped.
    ///   - systemCodes: the FeliCa systems to poll for, one after the other. A tag is found by the first one that it
    ///     has.
    /// - Returns: the tags that were found; may be empty.
    /// - Throws: ``LinkError`` with `readerUnavailable` when the reader is gone, `transmission` when another try may
    ///   succeed, `inUse` while another program uses the tag, or `cancelled`.
    func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag]

    /// Makes a tag the current one. If another tag was current before, a card's protocol restarts.
    ///
    /// - Parameter tag: a tag that the last ``discover(_:systemCodes:)`` returned.
    /// - Throws: ``LinkError`` with `tagRemoved` or `timeout` when the tag is gone, `readerUnavailable` or `cancelled`.
    func select(_ tag: DiscoveredTag) async throws(LinkError)

    /// Stops the running operation, from any thread. It throws `cancelled`, and so does every operation that starts
    /// before ``release()``.
    ///
    /// A session that ends calls this and also cancels the waiting task. The driver may not notice the cancellation
    /// while the task runs on its ``ReaderDriver/executor``.
    func interrupt()

    /// Releases the tags, and turns the field off if the reader can. Other programs may use the reader afterwards.
    func release() async
}

extension DiscoveringDriver {
    /// True: the default is for a reader that reports the tags' own answers.
    public var reportsActivationData: Bool { true }

    /// Does nothing: the default is for a driver that notices when its task is cancelled.
    public func interrupt() {}
}

/// A tag that a reader found and activated, and the link to it.
public struct DiscoveredTag: Sendable {
    /// The data that the tag sent while the reader activated it.
    public enum Identity: Sendable, Hashable {
        /// An NFC-A tag. In the ATQA the second byte on the air is the high byte. The SAK is that of the last cascade
        /// level, nil for a Type 1 tag. The UID has 4, 7 or 10 bytes (ISO/IEC 14443-3, 6), or is empty when the reader
        /// doesn't report it.
        case nfcA(atqa: UInt16, sak: UInt8?, uid: [UInt8])
        /// An NFC-B card. The answer is its ATQB from the byte 50 on, without checksum: 12 or 13 bytes (ISO/IEC
        /// 14443-3, 7.9).
        case nfcB(answer: [UInt8])
        /// An NFC-F tag: IDm and PMm of 8 bytes each, and the system code that was polled for (JIS X 6319-4).
        case nfcF(idm: [UInt8], pmm: [UInt8], systemCode: UInt16?)
        /// An NFC-V tag: the UID of 8 bytes, which starts with E0, and the DSFID (ISO/IEC 15693-3, 4.1).
        case nfcV(uid: [UInt8], dsfid: UInt8)

        /// The technology that the tag was found with.
        public var technology: Technology {
            switch self {
            case .nfcA: .nfcA
            case .nfcB: .nfcB
            case .nfcF: .nfcF
            case .nfcV: .nfcV
            }
        }
    }

    /// The link to the tag.
    public enum Port: Sendable {
        /// The host sends frames. Nothing was sent after the tag was selected, so a card with ISO-DEP waits for RATS or
        /// ATTRIB.
        case frames(any SelfActivatingLink)
        /// The reader handles ISO-DEP. For a Type A card, `answerToSelect` is the ATS, starting at TL.
        case commands(any APDULink, answerToSelect: [UInt8]?)
    }

    /// The data that the tag sent while it was activated.
    public var identity: Identity
    /// The link to the tag.
    public var port: Port

    /// Creates a tag; each argument is the property of that name.
    public init(identity: Identity, port: Port) {
        self.identity = identity
        self.port = port
    }
}

/// The reader that a program uses, or the reason why it has none.
public enum AttachedReader: Sendable {
    /// A reader whose host sends every frame.
    case field(any FieldDriver)
    /// A reader that finds and activates tags itself.
    case discovering(any DiscoveringDriver)
    /// There is no reader. The reason is a sentence that explains what to do.
    case none(reason: String)

    /// The reader's driver; nil when there is no reader.
    public var driver: (any ReaderDriver)? {
        switch self {
        case .field(let driver): driver
        case .discovering(let driver): driver
        case .none: nil
        }
    }
}

/// Keeps a presence handler registered until it is released.
public final class PresenceObservation: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an observation, which calls `onCancel` when it is released.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    deinit {
        onCancel()
    }
}

/// The presence handlers of a reader, in the order in which they were added.
package final class PresenceObservers: Sendable {
    private struct State {
        var lastID: UInt64 = 0
        var handlers: [(id: UInt64, call: @Sendable () -> Void)] = []
    }

    private let state = Locked(State())

    package init() {}

    package var isEmpty: Bool { state.withLock { $0.handlers.isEmpty } }

    /// Adds a handler until the returned observation is released.
    package func add(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation {
        let id = state.withLock { state in
            state.lastID += 1
            state.handlers.append((state.lastID, handler))
            return state.lastID
        }
        return PresenceObservation { [self] in
            // Released outside the lock, because a handler may hold the last reference to other objects.
            _ = state.withLock { state in
                state.handlers.firstIndex { $0.id == id }.map { state.handlers.remove(at: $0) }
            }
        }
    }

    /// Calls all handlers.
    package func notify() {
        for handler in state.withLock({ $0.handlers }) { handler.call() }
    }
}

/// Whether a reader supports one of Core NFC's calls, with the way it does so or the reason why not.
public struct SupportedAPI: Sendable, Hashable {
    /// How far a call is supported.
    public enum Support: String, Sendable {
        /// Fully.
        case yes
        /// For some of the data that the call may send.
        case partly
        /// Not at all.
        case no
        /// Unknown until a tag of this kind is on the reader.
        case unknown
    }

    /// The call, as written in an app.
    public var name: String
    /// How far the call is supported.
    public var support: Support
    /// How the call is supported, or why not, as a sentence.
    public var reason: String

    /// Creates an entry; each argument is the property of that name.
    public init(name: String, support: Support, reason: String) {
        self.name = name
        self.support = support
        self.reason = reason
    }
}
