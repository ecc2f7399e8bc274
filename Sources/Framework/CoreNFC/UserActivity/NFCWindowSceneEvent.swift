// SPDX-License-Identifier: Apache-2.0

/// Why the system opens a scene of an app for NFC.
///
/// There are no scenes without UIKit, so the framework never creates such an event. The type exists for code that
/// handles it. The scene delegate, which takes a `UIWindowScene`, does not exist here.
public enum NFCWindowSceneEvent: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The user pressed the side button twice.
    case presentation
    /// The device is near a reader.
    case readerDetected

    public var description: String {
        switch self {
        case .presentation: "presentation"
        case .readerDetected: "readerDetected"
        }
    }
}
