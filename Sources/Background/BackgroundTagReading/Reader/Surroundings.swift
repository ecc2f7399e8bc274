// SPDX-License-Identifier: Apache-2.0

/// The state of the system around the service, from several sources, and the conditions that follow from it. A default
/// applies where a source is missing.
public struct SystemConditions: Sendable, Hashable {
    /// The result for one condition.
    public struct Finding: Sendable, Hashable {
        /// The condition, identified by its obstacle.
        public var obstacle: ReadingConditions.Obstacle
        /// Whether the condition allows reading.
        public var isMet: Bool
        /// The source of the result, as text.
        public var source: String

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
    /// The user's session; nil when the system reports none.
    public var session: LoginSession? { didSet { updateLock() } }
    /// Whether the screen saver is on; nil when there is none.
    public var isScreenSaverOn: Bool? { didSet { updateLock() } }
    /// The screen savers that have not answered yet whether the screen is locked. Until they do, it counts as locked.
    public var silentSavers: [String] = [] { didSet { updateLock() } }
    /// Whether logind is running but has not answered. Until it does, the screen counts as locked, and ``session`` is
    /// the last one that it reported.
    public var isLoginSilent = false { didSet { updateLock() } }
    /// Whether the screen is locked. When no source reports it any more, the last report is used: a screen does not
    /// unlock because the source of the lock state has ended.
    public private(set) var isLocked = false
    /// Whether the screen is known to have been unlocked since the system started.
    public var wasUnlocked = false
    /// The compositor's `PowerSaveMode`, 0 when the display is on; nil when it does not report it.
    public var powerSaveMode: Int?
    /// Whether a connected display is on, according to the graphics driver; nil when it reports none.
    public var isDisplayLit: Bool?
    /// Whether the system is going to sleep.
    public var isGoingToSleep = false
    /// Whether an app has a reader session.
    public var isReaderSessionActive = false
    /// Whether an app acts as a card.
    public var isCardActive = false
    /// Whether a program has opened a camera; nil when there is no camera.
    public var isCameraOpen: Bool?
    /// The switches of the radios; nil when the system has none.
    public var radios: RadioSwitches?

    /// Creates surroundings in which nothing is known yet.
    public init() {}

    private var wasLocked = false

    private mutating func updateLock() {
        if session != nil || isScreenSaverOn != nil {
            wasLocked = session?.isLocked == true || isScreenSaverOn == true
        }
        isLocked = wasLocked || isLoginSilent || !silentSavers.isEmpty
    }

    /// Whether the screen is reported to be unlocked.
    public var isUnlocked: Bool {
        session.map { $0.isActive && !$0.isLocked } == true && isScreenSaverOn != true && !isLoginSilent
            && silentSavers.isEmpty
    }

    /// The conditions that follow from the surroundings.
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

    /// Returns the result for the reader.
    ///
    /// - Parameter isLookedFor: whether no other condition prevents reading.
    private func readerFinding(isLookedFor: Bool) -> Finding {
        // If the reader is not used because of another condition, the reader is not the obstacle.
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
                source: "logind reports no session: because the user is here, it counts as unlocked."
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
        return finding(true, "Nothing reports the state of the display: it counts as on.")
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
