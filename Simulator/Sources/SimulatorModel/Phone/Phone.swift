// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading

/// The phone: its screen, and its conditions for background reading.
struct Phone: Sendable, Hashable {
    /// The scanning sheet of an app.
    struct Sheet: Sendable, Hashable {
        var app: String
        var client: Int
        /// `ready`, `scanning`, `success` or `failure`.
        var state: String
        var title: String
        var message: String
        var showsErrorSymbol: Bool

        var canCancel: Bool { state == "ready" || state == "scanning" }

        var json: JSON {
            [
                "app": .string(app), "state": .string(state), "title": .string(title), "message": .string(message),
                "shows_error_symbol": .bool(showsErrorSymbol), "can_cancel": .bool(canCancel),
            ]
        }
    }

    /// A notification at the top of the screen.
    struct Banner: Sendable, Hashable {
        var id: String
        var title: String
        var body: String
        var action: String?

        var json: JSON {
            ["id": .string(id), "title": .string(title), "body": .string(body), "action": JSON(action)]
        }
    }

    /// A prompt that covers everything else on the screen.
    enum Prompt: String, Sendable {
        /// A tag was read, and has no link.
        case noData = "no-usable-data"
        case unlock
    }

    private(set) var isLocked = false
    private(set) var wasUnlocked = true
    private(set) var isScreenOn = true
    var isCameraOn = false
    var isAirplaneModeOn = false
    var isWalletOn = false
    /// The app in the foreground; nil for the home screen.
    var front: String?
    var sheet: Sheet?
    var banner: Banner?
    var prompt: Prompt?

    init() {}

    mutating func lock() { isLocked = true }

    mutating func unlock() {
        isLocked = false
        wasUnlocked = true
        isScreenOn = true
        if prompt == .unlock { prompt = nil }
    }

    /// Turns the screen on or off. Turning it off locks the phone.
    mutating func setScreen(_ isOn: Bool) {
        isScreenOn = isOn
        if !isOn {
            isLocked = true
            prompt = nil
        }
    }

    /// Restarts the phone. Until it is unlocked, it counts as never unlocked.
    mutating func restart() {
        let (camera, airplane) = (isCameraOn, isAirplaneModeOn)
        self = Phone()
        (isCameraOn, isAirplaneModeOn) = (camera, airplane)
        isLocked = true
        wasUnlocked = false
    }

    /// Returns the conditions of background reading.
    ///
    /// - Parameters:
    ///   - isSessionActive: whether an app is reading tags.
    ///   - isRadioOn: whether the NFC radio is on.
    func conditions(isSessionActive: Bool, isRadioOn: Bool) -> ReadingConditions {
        var obstacles: Set<ReadingConditions.Obstacle> = []
        if !isRadioOn { obstacles.insert(.unsupported) }
        if !wasUnlocked { obstacles.insert(.neverUnlocked) }
        if !isScreenOn { obstacles.insert(.displayOff) }
        if isSessionActive { obstacles.insert(.readerSession) }
        if isWalletOn { obstacles.insert(.wallet) }
        if isCameraOn { obstacles.insert(.camera) }
        if isAirplaneModeOn { obstacles.insert(.airplaneMode) }
        return ReadingConditions(obstacles: obstacles)
    }

    var json: JSON {
        [
            "locked": .bool(isLocked), "unlocked_since_boot": .bool(wasUnlocked), "screen_on": .bool(isScreenOn),
            "camera": .bool(isCameraOn), "airplane": .bool(isAirplaneModeOn), "wallet": .bool(isWalletOn),
            "front": JSON(front), "sheet": sheet?.json ?? nil, "banner": banner?.json ?? nil,
            "prompt": JSON(prompt?.rawValue), "clock": "9:41",
        ]
    }

    /// The phone's settings to save when the simulator quits.
    var saved: JSON {
        [
            "locked": .bool(isLocked), "unlocked_since_boot": .bool(wasUnlocked), "screen_on": .bool(isScreenOn),
            "camera": .bool(isCameraOn), "airplane": .bool(isAirplaneModeOn), "wallet": .bool(isWalletOn),
        ]
    }

    /// Restores saved settings.
    init(_ saved: JSON) {
        isLocked = saved["locked"]?.bool ?? false
        wasUnlocked = saved["unlocked_since_boot"]?.bool ?? true
        isScreenOn = saved["screen_on"]?.bool ?? true
        isCameraOn = saved["camera"]?.bool ?? false
        isAirplaneModeOn = saved["airplane"]?.bool ?? false
        isWalletOn = saved["wallet"]?.bool ?? false
    }
}
