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

    /// What is known of the reader.
    public var reader = ReaderState.unasked(name: nil)
    /// The user's session; nil where the system names none.
    public var session: LoginSession? { didSet { updateLock() } }
    /// Whether the screen saver is on; nil where there is none.
    public var isScreenSaverOn: Bool? { didSet { updateLock() } }
    /// The screen savers that are there and have not answered whether the screen is locked. Until they do, it counts as locked.
    public var silentSavers: [String] = [] { didSet { updateLock() } }
    /// Whether logind is there and has not answered. Until it does, the screen counts as locked, and ``session`` is what it
    /// reported last.
    public var isLoginSilent = false { didSet { updateLock() } }
    /// Whether the screen is locked. Where nothing reports it any more, the last report counts: a screen does not unlock
    /// because what reported the lock has ended.
    public private(set) var isLocked = false
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

    private var wasLocked = false

    private mutating func updateLock() {
        if session != nil || isScreenSaverOn != nil {
            wasLocked = session?.isLocked == true || isScreenSaverOn == true
        }
        isLocked = wasLocked || isLoginSilent || !silentSavers.isEmpty
    }

    /// Whether the screen is seen to be unlocked.
    public var isUnlocked: Bool {
        session.map { $0.isActive && !$0.isLocked } == true && isScreenSaverOn != true && !isLoginSilent
            && silentSavers.isEmpty
    }

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
        let others = otherFindings
        return [readerFinding(isLookedFor: others.allSatisfy(\.isMet))] + others
    }

    /// - Parameter isLookedFor: whether nothing else keeps tags from being read.
    private func readerFinding(isLookedFor: Bool) -> Finding {
        // A reader that nobody asks because of something else is not what keeps tags from being read.
        let isMet =
            switch reader {
            case .ready: true
            case .missing: false
            case .unasked: !isLookedFor
            }
        return Finding(obstacle: .unsupported, isMet: isMet, source: reader.text(isLookedFor: isLookedFor))
    }

    private var otherFindings: [Finding] {
        [
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
        guard session != nil || isLoginSilent else {
            return Finding(
                obstacle: .neverUnlocked,
                isMet: true,
                source: "logind tells of no session: that the user is here counts as unlocked."
            )
        }
        return Finding(
            obstacle: .neverUnlocked,
            isMet: wasUnlocked,
            source: isLoginSilent
                ? "logind does not answer; what it reported since the system started is remembered"
                : "logind, LockedHint of the session, remembered for this start of the system"
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
