// SPDX-License-Identifier: Apache-2.0

/// The seven conditions for background tag reading (Apple, Adding support for background tag reading).
///
/// A locked screen is not one of them. It only changes when a link is opened, not whether it is read.
public struct ReadingConditions: Sendable, Hashable {
    /// A reason why tags are not read.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// No reader answers.
        case unsupported
        /// The screen was never unlocked since the system started.
        case neverUnlocked = "never-unlocked"
        /// The display is off.
        case displayOff = "display-off"
        /// An app is reading tags.
        case readerSession = "reader-session"
        /// A wallet is in use, or an app that acts as a card.
        case wallet
        /// A camera is in use.
        case camera
        /// The radios are off.
        case airplaneMode = "airplane-mode"

        /// A sentence that explains the reason.
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

    /// Whether a reader answers.
    public var isSupported: Bool
    /// Whether the screen was unlocked at least once since the system started.
    public var wasUnlocked: Bool
    /// Whether the display is on.
    public var isDisplayOn: Bool
    /// Whether an app has a reader session.
    public var isReaderSessionActive: Bool
    /// Whether a wallet is in use, or an app that acts as a card.
    public var isWalletActive: Bool
    /// Whether a camera is in use.
    public var isCameraActive: Bool
    /// Whether airplane mode is on.
    public var isAirplaneModeOn: Bool

    /// Creates conditions. The default values allow reading.
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

    /// All reasons why tags are not read, in the order of the conditions; empty when tags are read.
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

    /// Whether to look for tags, which shows if a reader answers: no other condition prevents reading.
    public var allowLooking: Bool { obstacles.allSatisfy { $0 == .unsupported } }
}
