// SPDX-License-Identifier: Apache-2.0

/// What is known around the service, each thing from its source; where a source is missing, what follows from that.
public struct Surroundings: Sendable, Hashable {
    /// What became of one condition.
    public struct Finding: Sendable, Hashable {
        /// The condition, by the obstacle that it would be.
        public var obstacle: ReadingConditions.Obstacle
        /// Whether it lets tags be read.
        public var isMet: Bool
        /// Where that comes from, as words for people.
        public var source: String

        /// What the condition is about.
        public var name: String {
            switch obstacle {
            case .unsupported: "reader"
            case .neverUnlocked: "unlocked-once"
            case .displayOff: "display"
            case .readerSession, .wallet, .camera, .airplaneMode: obstacle.rawValue
            }
        }
    }

    /// Whether there is a reader that answers.
    public var isReaderThere = false
    /// The reader's name, or why there is none.
    public var reader = "The reader was not asked yet."
    /// The user's session; nil where the system tells of none.
    public var session: LoginSession?
    /// Whether the screen saver is on; nil where there is none.
    public var isScreenSaverOn: Bool?
    /// Whether the screen is known to have been unlocked since the system started.
    public var wasUnlocked = false
    /// The compositor's `PowerSaveMode`, 0 for a display that is on; nil where it does not tell.
    public var powerSaveMode: Int?
    /// Whether a display that is connected is on, by the graphics driver; nil where it tells of none.
    public var isDisplayLit: Bool?
    /// Whether the system goes to sleep.
    public var isGoingToSleep = false
    /// Whether an app has a reader session.
    public var isReaderSessionActive = false
    /// Whether an app is a card.
    public var isCardActive = false
    /// Whether a program has a camera open; nil where there is no camera.
    public var isCameraOpen: Bool?
    /// The switches of the radios; nil where the system has none.
    public var radios: RadioSwitches?

    /// Creates surroundings of which nothing is known yet.
    public init() {}

    /// Whether the screen is locked.
    public var isLocked: Bool { session?.isLocked == true || isScreenSaverOn == true }

    /// Whether the screen is seen to be unlocked.
    public var isUnlocked: Bool { session.map { $0.isActive && !$0.isLocked } == true && isScreenSaverOn != true }

    /// The conditions that follow.
    public var conditions: ReadingConditions {
        var conditions = ReadingConditions()
        for finding in findings {
            switch finding.obstacle {
            case .unsupported: conditions.isSupported = finding.isMet
            case .neverUnlocked: conditions.wasUnlocked = finding.isMet
            case .displayOff: conditions.isDisplayOn = finding.isMet
            case .readerSession: conditions.isReaderSessionActive = !finding.isMet
            case .wallet: conditions.isWalletActive = !finding.isMet
            case .camera: conditions.isCameraActive = !finding.isMet
            case .airplaneMode: conditions.isAirplaneModeOn = !finding.isMet
            }
        }
        return conditions
    }

    /// Each condition with its source.
    public var findings: [Finding] {
        [
            Finding(obstacle: .unsupported, isMet: isReaderThere, source: reader),
            unlocked,
            display,
            Finding(
                obstacle: .readerSession,
                isMet: !isReaderSessionActive,
                source: isReaderSessionActive ? "An app has a reader session." : "No app has a reader session."
            ),
            Finding(
                obstacle: .wallet,
                isMet: !isCardActive,
                source: isCardActive ? "An app is a card." : "Linux has no Wallet, and no app is a card."
            ),
            camera,
            airplane,
        ]
    }

    private var unlocked: Finding {
        guard session != nil else {
            return Finding(
                obstacle: .neverUnlocked,
                isMet: true,
                source: "logind tells of no session: that the user is here counts as unlocked."
            )
        }
        return Finding(
            obstacle: .neverUnlocked,
            isMet: wasUnlocked,
            source: "logind, LockedHint of the session, remembered for this start of the system"
        )
    }

    private var display: Finding {
        func finding(_ isOn: Bool, _ source: String) -> Finding {
            Finding(obstacle: .displayOff, isMet: isOn, source: source)
        }
        if isGoingToSleep { return finding(false, "logind: the system goes to sleep") }
        if let powerSaveMode { return finding(powerSaveMode == 0, "the compositor's PowerSaveMode") }
        if let isDisplayLit { return finding(isDisplayLit, "the graphics driver, dpms of the connected displays") }
        if let session {
            return finding(session.isActive && !session.isIdle, "logind: the session is seen and not idle")
        }
        return finding(true, "Nothing tells of the display: it counts as on.")
    }

    private var camera: Finding {
        let source =
            switch isCameraOpen {
            case nil: "There is no /dev/video*."
            case true?: "A program has /dev/video* open."
            case false?: "Nobody has /dev/video* open."
            }
        return Finding(obstacle: .camera, isMet: isCameraOpen != true, source: source)
    }

    private var airplane: Finding {
        guard let radios else {
            return Finding(
                obstacle: .airplaneMode,
                isMet: true,
                source: "There is no /dev/rfkill: the radios count as on."
            )
        }
        return Finding(obstacle: .airplaneMode, isMet: !radios.isAirplaneModeOn, source: "/dev/rfkill")
    }
}

/// A session of a user, as `org.freedesktop.login1.Session` tells of it.
public struct LoginSession: Sendable, Hashable {
    /// Its name.
    public var id: String
    /// `Class`, such as `user`.
    public var sessionClass: String
    /// `Active`: whether it is the one that is seen.
    public var isActive: Bool
    /// `LockedHint`: whether its screen is locked.
    public var isLocked: Bool
    /// `IdleHint`: whether nobody did anything for some time.
    public var isIdle: Bool

    /// Creates a session.
    public init(id: String, sessionClass: String = "user", isActive: Bool, isLocked: Bool, isIdle: Bool = false) {
        self.id = id
        self.sessionClass = sessionClass
        self.isActive = isActive
        self.isLocked = isLocked
        self.isIdle = isIdle
    }

    /// The session whose screen the user looks at.
    ///
    /// - Parameters:
    ///   - sessions: the user's sessions.
    ///   - own: the session of this process, where it is in one.
    /// - Returns: nil when the user has none with a screen or a terminal.
    public static func shown(_ sessions: [LoginSession], own: String?) -> LoginSession? {
        let users = sessions.filter { $0.sessionClass.hasPrefix("user") }
        return users.first { $0.id == own } ?? users.first(where: \.isActive) ?? users.min { $0.id < $1.id }
    }
}
