// SPDX-License-Identifier: Apache-2.0

/// Why the system opens a scene of an app for NFC.
///
/// There are no scenes without UIKit, so nothing here makes such an event by itself: the type is there for code that
/// handles it. The delegate of scenes, which takes a `UIWindowScene`, is not.
public enum NFCWindowSceneEvent: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The person asked for the app by pressing the side button twice.
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
