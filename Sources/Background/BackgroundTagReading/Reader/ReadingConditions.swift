// SPDX-License-Identifier: Apache-2.0

/// The seven conditions for reading tags in the background (Apple, Adding support for background tag reading).
///
/// Whether the screen is locked is not among them: that changes when a link is delivered, and not whether it is read.
public struct ReadingConditions: Sendable, Hashable {
    /// Why tags are not read.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// There is no reader that answers.
        case unsupported
        /// The screen was never unlocked since the system started.
        case neverUnlocked = "never-unlocked"
        /// The display is off.
        case displayOff = "display-off"
        /// An app reads tags.
        case readerSession = "reader-session"
        /// A wallet, or an app that is a card, is in use.
        case wallet
        /// A camera is in use.
        case camera
        /// The radios are off.
        case airplaneMode = "airplane-mode"

        /// The reason, as a sentence for people.
        public var reason: String {
            switch self {
            case .unsupported: "There is no reader for it."
            case .neverUnlocked: "The screen was not unlocked yet since the system started."
            case .displayOff: "The display is off."
            case .readerSession: "An app is reading tags."
            case .wallet: "A wallet is in use."
            case .camera: "A camera is in use."
            case .airplaneMode: "Airplane mode is on."
            }
        }
    }

    /// Whether there is a reader that answers.
    public var isSupported: Bool
    /// Whether the screen was unlocked once since the system started.
    public var wasUnlocked: Bool
    /// Whether the display is on.
    public var isDisplayOn: Bool
    /// Whether an app has a reader session.
    public var isReaderSessionActive: Bool
    /// Whether a wallet, or an app that is a card, is in use.
    public var isWalletActive: Bool
    /// Whether a camera is in use.
    public var isCameraActive: Bool
    /// Whether airplane mode is on.
    public var isAirplaneModeOn: Bool

    /// Creates conditions; those that are left out let tags be read.
    public init(
        isSupported: Bool = true,
        wasUnlocked: Bool = true,
        isDisplayOn: Bool = true,
        isReaderSessionActive: Bool = false,
        isWalletActive: Bool = false,
        isCameraActive: Bool = false,
        isAirplaneModeOn: Bool = false
    ) {
        self.isSupported = isSupported
        self.wasUnlocked = wasUnlocked
        self.isDisplayOn = isDisplayOn
        self.isReaderSessionActive = isReaderSessionActive
        self.isWalletActive = isWalletActive
        self.isCameraActive = isCameraActive
        self.isAirplaneModeOn = isAirplaneModeOn
    }

    /// Everything that keeps tags from being read, in the order of the conditions; empty when they are read.
    public var obstacles: [Obstacle] {
        var result: [Obstacle] = []
        if !isSupported { result.append(.unsupported) }
        if !wasUnlocked { result.append(.neverUnlocked) }
        if !isDisplayOn { result.append(.displayOff) }
        if isReaderSessionActive { result.append(.readerSession) }
        if isWalletActive { result.append(.wallet) }
        if isCameraActive { result.append(.camera) }
        if isAirplaneModeOn { result.append(.airplaneMode) }
        return result
    }

    /// Whether tags are read.
    public var allowReading: Bool { obstacles.isEmpty }

    /// Whether tags are to be looked for, which shows whether there is a reader: nothing else keeps them from being read.
    public var allowLooking: Bool { obstacles.allSatisfy { $0 == .unsupported } }
}
