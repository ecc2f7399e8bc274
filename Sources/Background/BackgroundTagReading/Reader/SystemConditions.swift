// SPDX-License-Identifier: Apache-2.0

/// The state of the system around the service, from several sources, and the resulting conditions. If a source is
/// missing, a default applies.
public struct SystemConditions: Sendable, Hashable {
    /// The result for one condition.
    public struct Finding: Sendable, Hashable {
        /// The condition, identified by its obstacle.
        public var obstacle: ReadingConditions.Obstacle
        /// Whether the condition allows reading.
        public var isMet: Bool
        /// The source of the result, as text.
        public var source: String

        fileprivate init(_ obstacle: ReadingConditions.Obstacle, _ isMet: Bool, _ source: String, not: String? = nil) {
            self.obstacle = obstacle
            self.isMet = isMet
            self.source = isMet ? source : not ?? source
        }

        /// The name of the condition.
        public var name: String {
            switch obstacle {
            case .unsupported: "reader"
            case .neverUnlocked: "unlocked-once"
            case .displayOff: "display"
            case .readerSession, .wallet, .camera, .airplaneMode: obstacle.rawValue
            }
        }
    }

    /// The state of the reader.
    public var reader = ReaderState.unasked(name: nil)
    /// The user's session; nil when the system does not report a session.
    public var session: LoginSession? { didSet { updateLock() } }
    /// Whether the screen saver is on; nil when there is no screen saver.
    public var isScreenSaverOn: Bool? { didSet { updateLock() } }
    /// The screen savers that have not reported yet whether the screen is locked. Until they do, the screen counts as
    /// locked.
    public var silentSavers: [String] = [] { didSet { updateLock() } }
    /// Whether logind is running but has not answered. Until it answers, the screen counts as locked, and ``session``
    /// is the last reported session.
    public var isLoginSilent = false { didSet { updateLock() } }
    /// Whether the screen is locked. If no source reports this any more, the last report still counts, because the end
    /// of a source does not unlock the screen.
    public private(set) var isLocked = false
    /// Whether the screen is known to have been unlocked since the system started.
    public var wasUnlocked = false
    /// The compositor's `PowerSaveMode`, which is 0 when the display is on; nil when it is not reported.
    public var powerSaveMode: Int?
    /// Whether a connected display is on, according to the graphics driver; nil when no display is reported.
    public var isDisplayLit: Bool?
    /// Whether the system is going to sleep.
    public var isGoingToSleep = false
    /// Whether an app has a reader session.
    public var isReaderSessionActive = false
    /// Whether an app acts as a card.
    public var isCardActive = false
    /// Whether a program has opened a camera; nil when there is no camera.
    public var isCameraOpen: Bool?
    /// The switches of the radios; nil when the system has no such switches.
    public var radios: RadioSwitches?

    /// Creates conditions without any information.
    public init() {}

    private var wasLocked = false

    private mutating func updateLock() {
        if session != nil || isScreenSaverOn != nil {
            wasLocked = session?.isLocked == true || isScreenSaverOn == true
        }
        isLocked = wasLocked || isLoginSilent || !silentSavers.isEmpty
    }

    /// Whether every source reports an unlocked screen.
    public var isUnlocked: Bool {
        session.map { $0.isActive && !$0.isLocked } == true && isScreenSaverOn != true && !isLoginSilent
            && silentSavers.isEmpty
    }

    /// The resulting conditions.
    public var conditions: ReadingConditions {
        ReadingConditions(obstacles: Set(findings.filter { !$0.isMet }.map(\.obstacle)))
    }

    /// Each condition with its result and source.
    public var findings: [Finding] {
        let others = [
            unlocked,
            display,
            Finding(
                .readerSession,
                !isReaderSessionActive,
                "No app has a reader session.",
                not: "An app has a reader session."
            ),
            Finding(
                .wallet,
                !isCardActive,
                "Linux has no Wallet, and no app emulates a card.",
                not: "An app emulates a card."
            ),
            camera,
            airplane,
        ]
        let othersAllow = others.allSatisfy(\.isMet)
        // If another condition prevents the use of the reader, the reader itself is not the obstacle.
        let hasReader =
            switch reader {
            case .ready: true
            case .missing: false
            case .unasked: !othersAllow
            }
        return [Finding(.unsupported, hasReader, reader.text(othersAllow: othersAllow))] + others
    }

    private var unlocked: Finding {
        guard session != nil || isLoginSilent else {
            let source = "logind reports no session, so the screen counts as unlocked."
            return Finding(.neverUnlocked, true, source)
        }
        let source =
            isLoginSilent
            ? "logind does not answer; its earlier reports since the system started still count"
            : "logind, LockedHint of the session, remembered until the system restarts"
        return Finding(.neverUnlocked, wasUnlocked, source)
    }

    private var display: Finding {
        if isGoingToSleep { return Finding(.displayOff, false, "logind: the system is going to sleep") }
        if let powerSaveMode { return Finding(.displayOff, powerSaveMode == 0, "the compositor's PowerSaveMode") }
        if let isDisplayLit {
            return Finding(.displayOff, isDisplayLit, "the graphics driver, dpms of the connected displays")
        }
        if let session {
            let isOn = session.isActive && !session.isIdle
            return Finding(.displayOff, isOn, "logind: the session is in the foreground and not idle")
        }
        return Finding(.displayOff, true, "The state of the display is not reported, so it counts as on.")
    }

    private var camera: Finding {
        let free = isCameraOpen == nil ? "/dev/video* does not exist." : "No program has /dev/video* open."
        return Finding(.camera, isCameraOpen != true, free, not: "A program has /dev/video* open.")
    }

    private var airplane: Finding {
        radios.map { Finding(.airplaneMode, !$0.isAirplaneModeOn, "/dev/rfkill") }
            ?? Finding(.airplaneMode, true, "/dev/rfkill does not exist, so the radios count as on.")
    }
}

/// The seven conditions for background tag reading (Apple, Adding support for background tag reading).
///
/// The lock of the screen is not a condition. It delays the opening of a link, but not the reading.
public struct ReadingConditions: Sendable, Hashable {
    /// A reason why tags are not read.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// No reader is answering.
        case unsupported
        /// The screen has not been unlocked since the system started.
        case neverUnlocked = "never-unlocked"
        /// The display is off.
        case displayOff = "display-off"
        /// An app is reading tags.
        case readerSession = "reader-session"
        /// A wallet is in use, or an app is acting as a card.
        case wallet
        /// A camera is in use.
        case camera
        /// The radios are off.
        case airplaneMode = "airplane-mode"

        /// A sentence that explains the reason.
        public var reason: String {
            switch self {
            case .unsupported: "No reader is available."
            case .neverUnlocked: "The screen has not been unlocked since the system started."
            case .displayOff: "The display is off."
            case .readerSession: "An app is reading tags."
            case .wallet: "A wallet is in use."
            case .camera: "A camera is in use."
            case .airplaneMode: "Airplane mode is on."
            }
        }
    }

    /// All reasons why tags are not read, in the order of the conditions. Empty when tags are read.
    public let obstacles: [Obstacle]

    /// Creates conditions. Without obstacles they allow reading.
    public init(obstacles: Set<Obstacle> = []) {
        self.obstacles = Obstacle.allCases.filter(obstacles.contains)
    }

    /// Whether tags are read.
    public var allowReading: Bool { obstacles.isEmpty }

    /// Whether to look for tags, and so for a reader. True if no other condition prevents reading.
    public var allowLooking: Bool { obstacles.allSatisfy { $0 == .unsupported } }
}

/// The state of the service's reader.
public enum ReaderState: Sendable, Hashable {
    /// The reader is not in use, or has not answered yet. The name is that of the last reader that answered.
    case unasked(name: String?)
    /// The reader answers.
    case ready(name: String)
    /// The reader does not answer. The reason is a sentence.
    case missing(reason: String)

    /// Returns the state as text.
    ///
    /// - Parameter othersAllow: whether no other condition prevents reading.
    func text(othersAllow: Bool) -> String {
        switch self {
        case .ready(let name): name
        case .missing(let reason): reason
        case .unasked(let name?): othersAllow ? "\(name) has not answered yet." : "\(name), when it was last asked."
        case .unasked(nil): othersAllow ? "The reader has not answered yet." : "The reader has not been asked yet."
        }
    }
}

/// The switches of a computer's radios, from the events of `/dev/rfkill` (Linux, `include/uapi/linux/rfkill.h`).
public struct RadioSwitches: Sendable, Hashable {
    /// How many bytes of an event are used. Newer systems may send more.
    public static let eventSize = 8
    static let maximumCount = 256
    private static let nfc: UInt8 = 8

    private struct Switch: Hashable {
        var type: UInt8
        var isBlocked: Bool
    }

    private var switches: [UInt32: Switch] = [:]

    /// Creates an empty set of switches.
    public init() {}

    /// Handles an event: the switch's index in four bytes, its type, the operation, the soft block and the hard block.
    ///
    /// - Returns: false when the event is too short.
    @discardableResult
    public mutating func take(_ event: some Collection<UInt8>) -> Bool {
        let bytes = Array(event.prefix(Self.eventSize))
        guard bytes.count == Self.eventSize else { return false }
        let index: UInt32 = bytes[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        let isBlocked = bytes[6] != 0 || bytes[7] != 0
        switch bytes[5] {
        case 0, 2:
            guard switches[index] != nil || switches.count < Self.maximumCount else { return true }
            switches[index] = Switch(type: bytes[4], isBlocked: isBlocked)
        case 1: switches[index] = nil
        case 3:
            // The operation applies to all switches of a type; type 0 means every type.
            for (index, entry) in switches where bytes[4] == 0 || entry.type == bytes[4] {
                switches[index]?.isBlocked = isBlocked
            }
        default: break
        }
        return true
    }

    /// Whether NFC is blocked, or all radios are.
    public var isAirplaneModeOn: Bool {
        !switches.isEmpty && switches.values.allSatisfy(\.isBlocked)
            || switches.values.contains { $0.type == Self.nfc && $0.isBlocked }
    }
}

/// A user's login session, as described by `org.freedesktop.login1.Session`.
public struct LoginSession: Sendable, Hashable {
    /// The session's identifier.
    public var id: String
    /// `Class`, such as `user`.
    public var sessionClass: String
    /// `Seat`: whether the session has a local screen and keyboard. A network session does not.
    public var hasSeat: Bool
    /// `Active`: whether the session is in the foreground.
    public var isActive: Bool
    /// `LockedHint`: whether the session's screen is locked.
    public var isLocked: Bool
    /// `IdleHint`: whether the user has been inactive for some time.
    public var isIdle: Bool

    /// Creates a session.
    public init(
        id: String,
        sessionClass: String = "user",
        hasSeat: Bool = true,
        isActive: Bool,
        isLocked: Bool,
        isIdle: Bool = false
    ) {
        self.id = id
        self.sessionClass = sessionClass
        self.hasSeat = hasSeat
        self.isActive = isActive
        self.isLocked = isLocked
        self.isIdle = isIdle
    }

    /// Returns the session whose screen the user is looking at.
    ///
    /// - Parameters:
    ///   - sessions: the user's sessions.
    ///   - own: the session of this process, if it has one.
    /// - Returns: nil when the user has no session.
    public static func shown(_ sessions: [LoginSession], own: String?) -> LoginSession? {
        let all = sessions.filter { $0.sessionClass.hasPrefix("user") }
        // A network session does not show a screen of this system.
        let seated = all.filter(\.hasSeat)
        let users = seated.isEmpty ? all : seated
        return users.first { $0.id == own } ?? users.first(where: \.isActive) ?? users.min { $0.id < $1.id }
    }
}
