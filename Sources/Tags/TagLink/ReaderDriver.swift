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

    /// What the reader's links have counted since they were created.
    var statistics: LinkStatistics { get }

    /// The thread on which the driver waits for its hardware. Nil if it doesn't have or share such a thread.
    ///
    /// A task that runs on this executor saves two thread switches in every exchange.
    var executor: (any SerialExecutor & TaskExecutor)? { get }

    /// Opens the reader now instead of at its first use. Afterwards `name` is the device's own name.
    ///
    /// - Throws: ``LinkError`` with `readerUnavailable` and a reason that explains what to do, or `cancelled`.
    func prepare() async throws(LinkError)

    /// Whether the reader was usable at any time since the driver was created. If true, a missing reader was unplugged.
    var wasAvailable: Bool { get }

    /// Calls `handler` whenever a tag may have arrived or left, until the caller releases the returned observation.
    ///
    /// - Parameter handler: called on any thread, never while the driver holds a lock.
    /// - Returns: the observation; nil if the reader can't report presence, so the caller must poll.
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation?

    /// Returns the arrival number of a tag, as of the last discovery. The number changes if the tag left and returned
    /// since the previous discovery, even for a moment.
    ///
    /// - Parameter identifier: the UID, PUPI or IDm of a discovered tag.
    /// - Returns: the number; nil if the tag left, or if the reader can't distinguish arrivals.
    func arrival(of identifier: [UInt8]) -> UInt64?

    /// Returns whether a tag has stayed in the field since it arrived, as far as the reader knows. Sends nothing to it.
    ///
    /// - Parameters:
    ///   - identifier: the UID, PUPI or IDm of a tag from the last discovery.
    ///   - arrival: the number that ``arrival(of:)`` returned at that discovery.
    /// - Returns: false if the tag left, even if it has returned since.
    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool

    /// Tells the person at the reader whether a tag was used, by light and sound. Only call this while a tag is in use.
    ///
    /// - Returns: false if the reader has no light or sound that the driver can switch.
    func signal(isSuccess: Bool) async -> Bool

    /// The reader inside a recording wrapper, for calls that must not be recorded. Without such a wrapper, the reader
    /// itself.
    var unrecorded: any ReaderDriver { get }

    /// Whether the handler of ``observePresence(_:)`` is called exactly when a tag arrives or leaves. False for the
    /// replay of a recording, which may call the handler early, as soon as it has nothing else to do.
    var reportsPresenceInTime: Bool { get }
}

extension ReaderDriver {
    /// The reader itself, the default for readers that do not wrap another one to record it.
    public var unrecorded: any ReaderDriver { self }

    /// Does nothing, the default for readers without a light or sound of their own.
    public func signal(isSuccess: Bool) async -> Bool { false }

    /// True, the default for readers of real or virtual tags.
    public var reportsPresenceInTime: Bool { true }

    /// Returns nil, the default for readers that can't distinguish arrivals.
    public func arrival(of identifier: [UInt8]) -> UInt64? { nil }

    /// Compares the arrival numbers. This default is for a reader whose ``arrival(of:)`` always reflects which tags are
    /// near now.
    public func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        self.arrival(of: identifier) == arrival
    }

    /// Does nothing: the default is for a reader that stays open while its driver exists.
    public func prepare() async throws(LinkError) {}

    /// True: the default is for a reader whose driver is only created after the reader was found.
    public var wasAvailable: Bool { true }

    /// Nil: the default shares no thread.
    public var executor: (any SerialExecutor & TaskExecutor)? { nil }
}

/// A reader whose host sends every frame, starting with the first REQA.
public protocol FieldDriver: ReaderDriver {
    /// Returns the link for one technology. Each call returns the same object for the same technology.
    ///
    /// - Returns: the link; nil when the reader doesn't support the technology.
    func link(for technology: Technology) -> (any FrameLink)?

    /// Turns the carrier on or off. Without the carrier, tags lose their power and their state.
    func setCarrier(_ isOn: Bool) async throws(LinkError)
}

extension FieldDriver {
    /// The sum of the statistics of all links.
    public var statistics: LinkStatistics {
        Technology.allCases.reduce(.zero) { $0 + (link(for: $1)?.statistics ?? .zero) }
    }
}

/// A reader that finds and activates tags itself, such as a PC/SC reader or a PN532.
///
/// Make one call at a time. A driver that must wait for its hardware does so on its own threads.
public protocol DiscoveringDriver: ReaderDriver {
    /// Whether the tag itself sent every value of its ``DiscoveredTag/Identity``. False if the reader only reports an
    /// identifier and the kind of tag, and the driver derives ATQA, SAK and DSFID from these.
    var reportsActivationData: Bool { get }

    /// Looks for tags once. Previously found tags become invalid: their links throw `tagRemoved`.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to look for. Unsupported technologies are skipped.
    ///   - systemCodes: the FeliCa systems to poll for, in this order. Each tag is found by the first of its systems.
    /// - Returns: the tags found; may be empty.
    /// - Throws: ``LinkError`` with `readerUnavailable` when the reader was removed, `transmission` when another try
    ///   may succeed, `inUse` while another program uses the tag, or `cancelled`.
    func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag]

    /// Makes a tag the current tag. If another tag was current before, the transport protocol of a card restarts.
    ///
    /// - Parameter tag: a tag from the last ``discover(_:systemCodes:)``.
    /// - Throws: ``LinkError`` with `tagRemoved` or `timeout` when the tag left, `readerUnavailable` or `cancelled`.
    func select(_ tag: DiscoveredTag) async throws(LinkError)

    /// Stops the running operation, from any thread. That operation throws `cancelled`. So does every operation that
    /// starts before ``release()``.
    ///
    /// When a session ends, it calls this method and also cancels the waiting task. Cancelling alone isn't enough: the
    /// driver may not notice it while the task runs on ``ReaderDriver/executor``.
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
    /// The data that the tag sent during activation.
    public enum Identity: Sendable, Hashable {
        /// An NFC-A tag. The high byte of the ATQA is the second byte on the air. The SAK is from the last cascade
        /// level, or nil for a Type 1 tag. The UID has 4, 7 or 10 bytes (ISO/IEC 14443-3, 6), or is empty if the reader
        /// doesn't report it.
        case nfcA(atqa: UInt16, sak: UInt8?, uid: [UInt8])
        /// An NFC-B card. The answer is its ATQB, starting with the byte 50 and without checksum: 12 or 13 bytes
        /// (ISO/IEC 14443-3, 7.9).
        case nfcB(answer: [UInt8])
        /// An NFC-F tag: IDm and PMm of 8 bytes each, and the polled system code (JIS X 6319-4).
        case nfcF(idm: [UInt8], pmm: [UInt8], systemCode: UInt16?)
        /// An NFC-V tag: the UID of 8 bytes, E0 first, and the DSFID (ISO/IEC 15693-3, 4.1).
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
        /// The host sends frames. The driver has sent nothing since it selected the tag, so an ISO-DEP card waits for
        /// RATS or ATTRIB.
        case frames(any SelfActivatingLink)
        /// The reader handles ISO-DEP. For a Type A card, `answerToSelect` is the ATS, starting at TL.
        case commands(any APDULink, answerToSelect: [UInt8]?)
    }

    /// The data that the tag sent during activation.
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
    /// No reader. The reason is a sentence that explains what to do.
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

    /// Creates an observation that calls `onCancel` when it is released.
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
            // The handler is released outside the lock, because it may hold the last reference to other objects.
            _ = state.withLock { state in
                state.handlers.firstIndex { $0.id == id }.map { state.handlers.remove(at: $0) }
            }
        }
    }

    package func notify() {
        for handler in state.withLock({ $0.handlers }) { handler.call() }
    }
}

/// Whether a reader supports one of Core NFC's calls, and how, or why not.
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

    /// The call, as an app writes it.
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
